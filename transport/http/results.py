"""Combine the answers of routes that act on several devices or sessions: one result each, and one status for all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from actors.kit.errors import FirmwareTooOld, HapticError
from transport.http.call import Answer
from transport.wire.envelope import sentence_of, status_of

if TYPE_CHECKING:
    from transport.wire.vocabulary import Vocabulary

Run: TypeAlias = Callable[[], Awaitable[Mapping[str, object]]]


@dataclass(frozen=True, slots=True)
class Act:
    """One action: `names` identify its device or session, `run` returns the value then in force."""

    names: Mapping[str, object]
    run: Run


async def answer_of(vocabulary: Vocabulary, acts: Sequence[Act], *, several: bool) -> Answer:
    """Run all actions; answer the bare value of a single one, or a result for each. A refused one does not stop the others."""
    if not several:
        (act,) = acts
        return Answer(await act.run())
    results: list[dict[str, object]] = []
    errors: list[HapticError] = []
    for act in acts:
        try:
            results.append({**act.names, "ok": True, **await act.run()})
        except HapticError as error:
            errors.append(error)
            results.append({**act.names, "ok": False, "error": vocabulary.said(sentence_of(error))})
    first = deciding(errors)
    if first is None:
        return Answer({"results": results})
    return Answer({"results": results}, status_of(first), vocabulary.said(sentence_of(first)))


async def values_of(vocabulary: Vocabulary, acts: Sequence[Act]) -> Answer:
    """Answer a GET: the bare value of one, a result for each of several."""
    return await answer_of(vocabulary, acts, several=len(acts) > 1)


def deciding(errors: Sequence[HapticError]) -> HapticError | None:
    """Return the error that sets the status: the first FirmwareTooOld, else the first error; None without errors."""
    old = [error for error in errors if isinstance(error, FirmwareTooOld)]
    return next(iter(old or errors), None)
