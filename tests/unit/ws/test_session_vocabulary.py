"""Rules of a session's vocabulary: what fixes it, what changes it, which client gets a hint."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.session.vocabulary import Cause, SessionVocabulary, hint
from transport.wire.hint_limit import AT_ONCE, ONE_EVERY_NS, HintLimit
from transport.wire.vocabulary import INVERSE, INVERSE_WORD, NEUTRAL, NEUTRAL_WORD

BOTH_WORDS = NEUTRAL_WORD | INVERSE_WORD


def words(name: str = "auto", *, chosen: bool = False) -> SessionVocabulary:
    return SessionVocabulary(name, chosen_by_client=chosen)


@pytest.mark.parametrize(("name", "starts"), [("auto", NEUTRAL), ("neutral", NEUTRAL), ("inverse", INVERSE)])
@pytest.mark.parametrize("chosen", [False, True])
def test_query_selects_the_first_vocabulary(name: str, starts: object, *, chosen: bool) -> None:
    assert words(name, chosen=chosen).vocabulary is starts


def test_unknown_vocabulary_is_an_error() -> None:
    with pytest.raises(KeyError):
        words("latin")


@pytest.mark.parametrize("spoken", [INVERSE_WORD, BOTH_WORDS])
@pytest.mark.parametrize("chosen", [False, True])
def test_auto_becomes_inverse_with_the_first_inverse_name(spoken: int, *, chosen: bool) -> None:
    session = words(chosen=chosen)
    session.heard(NEUTRAL_WORD)
    assert session.vocabulary is NEUTRAL

    session.heard(spoken)

    assert session.vocabulary is INVERSE
    assert session.awaited == 0


def test_inverse_stays_when_neutral_names_follow() -> None:
    session = words()
    session.heard(INVERSE_WORD)

    session.heard(NEUTRAL_WORD)

    assert session.vocabulary is INVERSE


@pytest.mark.parametrize("name", ["neutral", "inverse"])
def test_fixed_vocabulary_stays(name: str) -> None:
    session = words(name)
    before = session.vocabulary

    session.heard(BOTH_WORDS)

    assert session.vocabulary is before


@pytest.mark.parametrize("name", ["auto", "neutral", "inverse"])
@pytest.mark.parametrize("act", ["silent", "closed", "inverse_word"])
def test_client_with_a_chosen_vocabulary_gets_no_hint(name: str, act: str) -> None:
    session = words(name, chosen=True)

    assert not session.hint_due
    assert (session.heard(INVERSE_WORD) if act == "inverse_word" else getattr(session, act)()) is None


@pytest.mark.parametrize("name", ["auto", "neutral"])
def test_client_that_named_no_device_gets_a_hint_when_silent_or_closed(name: str) -> None:
    assert words(name).silent() is Cause.SILENT
    assert words(name).closed() is Cause.CLOSED


@pytest.mark.parametrize("name", ["auto", "neutral"])
def test_client_that_uses_an_inverse_name_gets_a_hint(name: str) -> None:
    assert words(name).heard(INVERSE_WORD) is Cause.INVERSE_WORD


def test_client_with_an_inverse_first_frame_gets_no_hint() -> None:
    session = words("inverse")

    assert (session.silent(), session.closed(), session.awaited) == (None, None, 0)


def test_client_that_named_a_device_in_neutral_vocabulary_gets_no_hint() -> None:
    session = words()

    assert session.heard(NEUTRAL_WORD) is None
    assert (session.hint_due, session.silent(), session.closed()) == (False, None, None)
    assert session.awaited == INVERSE_WORD


def test_session_closed_by_the_service_gets_no_hint() -> None:
    session = words()
    session.keep_quiet()

    assert (session.closed(), session.heard(INVERSE_WORD)) == (None, None)


def test_auto_still_follows_after_a_hint_about_silence() -> None:
    session = words()
    session.silent()

    assert session.heard(INVERSE_WORD) is None
    assert session.vocabulary is INVERSE


def test_neutral_session_gets_one_hint_at_most() -> None:
    session = words("neutral")
    session.silent()

    assert session.awaited == 0


@given(
    st.sampled_from(["auto", "neutral", "inverse"]),
    st.booleans(),
    st.lists(st.sampled_from(["silent", "closed", "keep_quiet", NEUTRAL_WORD, INVERSE_WORD, BOTH_WORDS])),
)
def test_at_most_one_hint_comes_out_of_a_session(name: str, chosen: bool, acts: list[str | int]) -> None:
    session = words(name, chosen=chosen)
    told = []
    for act in acts:
        if isinstance(act, str):
            told.append(getattr(session, act)())
        elif act & session.awaited:
            told.append(session.heard(act))

    assert len([cause for cause in told if cause]) <= 1
    if name == "auto":
        heard = any(isinstance(act, int) and act & INVERSE_WORD for act in acts)
        assert session.vocabulary is (INVERSE if heard else NEUTRAL)


@pytest.mark.parametrize(("cause", "vocabulary"), list(itertools.product(Cause, [NEUTRAL, INVERSE])))
def test_hint_names_the_session_and_both_remedies(cause: Cause, vocabulary: object) -> None:
    sentence = hint(cause, 7, INVERSE if vocabulary is INVERSE else NEUTRAL)

    assert "session 7 " in sentence
    assert "?vocabulary=inverse" in sentence
    assert "--vocabulary inverse" in sentence
    assert "inverse3" in sentence or "arm" in sentence


def test_hints_are_limited_and_suppressed_ones_counted() -> None:
    limit = HintLimit()

    assert [limit.due(0) for _ in range(AT_ONCE + 3)] == [0] * AT_ONCE + [None] * 3
    assert limit.due(ONE_EVERY_NS - 1) is None
    assert limit.due(ONE_EVERY_NS) == 4
    assert limit.due(ONE_EVERY_NS) is None
    assert [limit.due(100 * ONE_EVERY_NS) for _ in range(AT_ONCE + 1)] == [1] + [0] * (AT_ONCE - 1) + [None]
