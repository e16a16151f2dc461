"""Results of a request for several devices: independent, with one rule for the common status."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from actors.kit.errors import Busy, FirmwareTooOld, HapticError, InvalidInput, NoSuchSession
from fastpath.text.encoder import encode_json
from transport.http.results import Act, answer_of, deciding
from transport.wire.envelope import Data, Encoded, answered
from transport.wire.vocabulary import INVERSE, NEUTRAL

OLD = FirmwareTooOld("damping", "7.3", "7.5")
BAD = InvalidInput("no")


def act(name: str, error: Exception | None = None) -> Act:
    async def run() -> Mapping[str, object]:
        if error is not None:
            raise error
        return {"value": name}

    return Act({"device_id": name}, run)


@pytest.mark.parametrize(
    ("errors", "index"),
    [([BAD], 0), ([OLD], 0), ([BAD, OLD], 1), ([BAD, NoSuchSession(1)], 0), ([Busy(), BAD], 0)],
)
def test_old_firmware_error_precedes_the_first_failure(errors: list[HapticError], index: int) -> None:
    assert deciding(errors) is errors[index]


def test_no_errors_decide_no_status() -> None:
    assert deciding([]) is None


def test_single_result_is_bare_and_raises_its_error() -> None:
    assert asyncio.run(answer_of(NEUTRAL, [act("a")], several=False)).data == {"value": "a"}
    with pytest.raises(InvalidInput):
        asyncio.run(answer_of(NEUTRAL, [act("a", BAD)], several=False))


def test_several_devices_act_independently() -> None:
    answer = asyncio.run(answer_of(NEUTRAL, [act("a"), act("b", BAD), act("c")], several=True))

    assert answer.data == {
        "results": [
            {"device_id": "a", "ok": True, "value": "a"},
            {"device_id": "b", "ok": False, "error": "no"},
            {"device_id": "c", "ok": True, "value": "c"},
        ]
    }
    assert (answer.status, answer.error) == (400, "no")


@pytest.mark.parametrize("values", [[{"value": 1.5}, {}], [{}, {"b": [None, "ü"], "c": {}}]])
def test_encoded_values_give_the_body_that_their_values_give(values: list[Mapping[str, object]]) -> None:
    def acts(*, encoded: bool) -> list[Act]:
        def run_of(value: Mapping[str, object]) -> Act:
            async def run() -> Data:
                return Encoded(encode_json(value)) if encoded else value

            return Act({"session_id": 7}, run)

        return [run_of(value) for value in values] + [act("b", BAD), act("c")]

    def body(*, encoded: bool) -> tuple[bytes, int, str | None]:
        answer = asyncio.run(answer_of(NEUTRAL, acts(encoded=encoded), several=True))
        return answered(answer.data, envelope=False), answer.status, answer.error

    assert body(encoded=True) == body(encoded=False)


def test_errors_use_the_vocabulary_of_the_request() -> None:
    wrong = act("a", InvalidInput('no preset "compact_zup"'))

    answer = asyncio.run(answer_of(INVERSE, [wrong], several=True))

    assert answer.data == {"results": [{"device_id": "a", "ok": False, "error": 'no preset "minverse_zup"'}]}


def test_internal_error_is_no_result() -> None:
    with pytest.raises(RuntimeError):
        asyncio.run(answer_of(NEUTRAL, [act("a", RuntimeError())], several=True))
