"""The check for a session id 0 finds one anywhere in a text, and nothing else."""

from __future__ import annotations

import pytest

from tests.support.wire.session_zero import free_of_zero


@pytest.mark.parametrize(
    "text", ['{"session_id":0}', '{"a":[{"session_id": 0 ,"b":1}]}', b'x"session_id":0', '"session_id":-0}']
)
def test_session_id_zero_is_found(text: bytes | str) -> None:
    with pytest.raises(AssertionError, match="session_id is 0"):
        free_of_zero(text)


@pytest.mark.parametrize(
    "text",
    ['{"session_id":1}', '{"session_id":10}', b'{"session_id":null}', "0", "", '"a \\"session_id\\": 0"', "\udcff"],
)
def test_other_text_passes(text: bytes | str) -> None:
    assert free_of_zero(text) is text
