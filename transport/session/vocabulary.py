"""Choose the vocabularies of a session's frames: both until its client has used a word that only one of them has."""

from __future__ import annotations

from transport.wire.vocabulary import AUTO, INVERSE, INVERSE_WORD, NEUTRAL, NEUTRAL_WORD, Vocabulary, vocabulary_named


class SessionVocabulary:
    """Vocabularies of one session's frames.

    `vocabulary` is that in which messages are read and sentences are said: the neutral one while both are `shown`. Words of the
    vocabularies in `awaited` (bits of OWNERS) decide; 0 once they have.
    """

    def __init__(self, name: str) -> None:
        """`name` is neutral, inverse or auto; KeyError for any other."""
        vocabulary = vocabulary_named(name)
        if vocabulary is None:
            raise KeyError(name)
        self.vocabulary: Vocabulary = vocabulary
        self.shown: tuple[Vocabulary, ...] = (NEUTRAL, INVERSE) if name == AUTO else (vocabulary,)
        self.awaited = NEUTRAL_WORD | INVERSE_WORD if name == AUTO else 0

    def heard(self, spoken: int) -> None:
        """Handle a message with bits in `awaited`: words of both decide for the neutral vocabulary."""
        self.vocabulary = NEUTRAL if spoken & NEUTRAL_WORD else INVERSE
        self.shown = (self.vocabulary,)
        self.awaited = 0
