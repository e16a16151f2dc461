"""Choose the vocabulary of a session's frames, and the moment when its client gets a hint about the other one.

Rules only: the channel reads messages, keeps the timer and sends what these say.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from transport.wire.vocabulary import AUTO, INVERSE, INVERSE_WORD, NEUTRAL, NEUTRAL_WORD, Vocabulary, vocabulary_named

# A little under 3 s: the hint is in the log before 3 s have passed since the first frame.
NAMED_WITHIN_S: Final = 2.8


class Cause(StrEnum):
    """Why a client may expect the other vocabulary."""

    SILENT = "silent"  # it has named no device since a neutral first frame
    CLOSED = "closed"  # it has left without naming a device soon after a neutral first frame
    INVERSE_WORD = "inverse_word"  # it has used a word that only the inverse vocabulary has


class SessionVocabulary:
    """Vocabulary of one session. Returns at most one Cause, none if the client chose the vocabulary in its URL."""

    def __init__(self, name: str, *, chosen_by_client: bool) -> None:
        """`name` is neutral, inverse or auto; KeyError for any other."""
        vocabulary = vocabulary_named(name)
        if vocabulary is None:
            raise KeyError(name)
        self.vocabulary: Vocabulary = vocabulary
        self._follows = name == AUTO
        self._hint_due = vocabulary is NEUTRAL and not chosen_by_client
        self._named = False
        self.awaited = 0
        self._await()

    @property
    def hint_due(self) -> bool:
        """Whether `silent` or `closed` may still return a Cause."""
        return self._hint_due and not self._named

    def heard(self, spoken: int) -> Cause | None:
        """Handle a message with bits (OWNERS) in `awaited`; may change `vocabulary`."""
        self._named = True
        cause = None
        if spoken & INVERSE_WORD:
            if self._follows:
                self.vocabulary = INVERSE
            cause = self._hint(Cause.INVERSE_WORD)
            self._follows = False
        self._await()
        return cause

    def silent(self) -> Cause | None:
        """Return SILENT if no message has named a device; call it NAMED_WITHIN_S after the first frame."""
        return None if self._named else self._hint(Cause.SILENT)

    def closed(self) -> Cause | None:
        """Return CLOSED if the client leaves before NAMED_WITHIN_S without naming a device."""
        return None if self._named else self._hint(Cause.CLOSED)

    def keep_quiet(self) -> None:
        """Suppress all further hints: the service itself ends the session."""
        self._hint_due = False
        self._await()

    def _hint(self, cause: Cause) -> Cause | None:
        due, self._hint_due = self._hint_due, False
        self._await()
        return cause if due else None

    def _await(self) -> None:
        """Set `awaited`, the bits of a message for which `heard` has to be called; 0 once all is decided."""
        self.awaited = INVERSE_WORD if self._follows or self._hint_due else 0
        if self.hint_due:
            self.awaited |= NEUTRAL_WORD


def hint(cause: Cause, session_id: int, vocabulary: Vocabulary) -> str:
    """Return the sentence for log and event: what happened and what to do; `vocabulary` is that of the next frames."""
    theirs, ours = ", ".join(INVERSE.groups()), ", ".join(NEUTRAL.groups())
    cure = f"add ?vocabulary={INVERSE.name} to its URL, or start the service with --vocabulary {INVERSE.name}"
    if cause is Cause.INVERSE_WORD and vocabulary is INVERSE:
        return f"session {session_id} uses {INVERSE.name} words and gets them from now on ({theirs}): for its first frame too, {cure}"
    if cause is Cause.INVERSE_WORD:
        return f"session {session_id} uses {INVERSE.name} words but gets neutral ones ({ours}): {cure}"
    did = "was closed by its client without naming" if cause is Cause.CLOSED else "has not named"
    return f"session {session_id} {did} a device after a first frame in neutral words ({ours}): if its client expects {theirs}, {cure}"
