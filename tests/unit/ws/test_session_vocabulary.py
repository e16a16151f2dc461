"""Rules of a session's vocabulary: which are shown, and what decides for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.session.vocabulary import SessionVocabulary
from transport.wire.vocabulary import INVERSE, INVERSE_WORD, NEUTRAL, NEUTRAL_WORD, Vocabulary

BOTH_WORDS = NEUTRAL_WORD | INVERSE_WORD
SHOWN = {"auto": (NEUTRAL, INVERSE), "neutral": (NEUTRAL,), "inverse": (INVERSE,)}


@pytest.mark.parametrize("name", SHOWN)
def test_name_selects_what_the_first_frame_shows(name: str) -> None:
    session = SessionVocabulary(name)

    assert session.shown == SHOWN[name]
    assert session.vocabulary is SHOWN[name][0]


def test_unknown_vocabulary_is_an_error() -> None:
    with pytest.raises(KeyError):
        SessionVocabulary("latin")


@pytest.mark.parametrize(
    ("spoken", "chosen"), [(NEUTRAL_WORD, NEUTRAL), (INVERSE_WORD, INVERSE), (BOTH_WORDS, NEUTRAL)]
)
def test_first_word_decides_and_words_of_both_decide_for_neutral(spoken: int, chosen: Vocabulary) -> None:
    session = SessionVocabulary("auto")
    assert session.awaited == BOTH_WORDS

    session.heard(spoken)

    assert session.shown == (chosen,)
    assert session.vocabulary is chosen


@given(st.sampled_from(list(SHOWN)), st.lists(st.integers(0, BOTH_WORDS)))
def test_one_vocabulary_once_shown_stays(name: str, messages: list[int]) -> None:
    session, chosen = SessionVocabulary(name), SHOWN[name]
    for spoken in messages:
        if spoken & session.awaited:
            session.heard(spoken)
            assert session.awaited == 0
        if len(chosen) == 1:
            assert session.shown == chosen
        chosen = session.shown
