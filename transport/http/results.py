"""Combine the answers of routes that act on several devices or sessions: one result each, and one status for all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from actors.kit.errors import FirmwareTooOld, HapticError
from fastpath.text.encoder import encode_json
from transport.http.call import Answer
from transport.wire.envelope import Data, Encoded, joined, sentence_of, status_of

if TYPE_CHECKING:
    from transport.wire.vocabulary import Vocabulary

Run: TypeAlias = Callable[[], Awaitable[Data]]


@dataclass(frozen=True, slots=True)
class Act:
    """One action: `names` identify its device or session, `run` returns the value then in force.

    A value that is encoded already must not repeat a member of `names`.
    """

    names: Mapping[str, object]
    run: Run


async def answer_of(vocabulary: Vocabulary, acts: Sequence[Act], *, several: bool) -> Answer:
    """Run all actions; answer the bare value of a single one, or a result for each. A refused one does not stop the others."""
    if not several:
        (act,) = acts
        return Answer(await act.run())
    results: list[Data] = []
    errors: list[HapticError] = []
    for act in acts:
        try:
            results.append(_result(act.names, await act.run()))
        except HapticError as error:
            errors.append(error)
            results.append({**act.names, "ok": False, "error": vocabulary.said(sentence_of(error))})
    first = deciding(errors)
    if first is None:
        return Answer(_listed(results))
    return Answer(_listed(results), status_of(first), vocabulary.said(sentence_of(first)))


async def values_of(vocabulary: Vocabulary, acts: Sequence[Act]) -> Answer:
    """Answer a GET: the bare value of one, a result for each of several."""
    return await answer_of(vocabulary, acts, several=len(acts) > 1)


def deciding(errors: Sequence[HapticError]) -> HapticError | None:
    """Return the error that sets the status: the first FirmwareTooOld, else the first error; None without errors."""
    old = [error for error in errors if isinstance(error, FirmwareTooOld)]
    return next(iter(old or errors), None)


def _result(names: Mapping[str, object], value: Data) -> Data:
    if isinstance(value, Encoded):
        return Encoded(joined(encode_json({**names, "ok": True}), value.text))
    return {**names, "ok": True, **value}


def _listed(results: Sequence[Data]) -> Data:
    """Return the results as one object; encoded ones are not read again."""
    if not any(isinstance(one, Encoded) for one in results):
        return {"results": results}
    texts = (one.text if isinstance(one, Encoded) else encode_json(one) for one in results)
    return Encoded(b'{"results":[%b]}' % b",".join(texts))
