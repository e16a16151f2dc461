"""Routes that act on several devices or sessions: one result for each, and the status that they come to together."""

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
    """What is done to one of them: `names` say to which, `run` gives the value that is then in force."""

    names: Mapping[str, object]
    run: Run


async def answer_of(
    vocabulary: Vocabulary, acts: Sequence[Act], *, several: bool, deprecation: str | None = None
) -> Answer:
    """The bare value of the only act, or a result for each; one that is refused does not keep the others from acting."""
    if not several:
        (act,) = acts
        return Answer(await act.run(), deprecation=deprecation)
    results: list[dict[str, object]] = []
    errors: list[HapticError] = []
    for act in acts:
        try:
            results.append({**act.names, "ok": True, **await act.run()})
        except HapticError as error:
            errors.append(error)
            results.append({**act.names, "ok": False, "error": vocabulary.said(sentence_of(error))})
    return Answer({"results": results}, status=together(errors), deprecation=deprecation)


def together(errors: Sequence[HapticError]) -> int:
    """200 without errors, 422 when a firmware was too old for one, else the status of the first."""
    if not errors:
        return 200
    old = [error for error in errors if isinstance(error, FirmwareTooOld)]
    return status_of((old or errors)[0])
