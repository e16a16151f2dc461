"""Frames with every module off equal the recorded frames, except for the digits of numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.conftest import Join

RECORDED: Final = Path(__file__).parents[1] / "wire" / "recorded" / "full_frames.json"
NUMBER: Final = re.compile(rb"(?<=[:\[,])-?[0-9]+(?:\.[0-9]+)?(?:E-?[0-9]+)?(?=[,}\]])")


def bytes_of_full_frame(join: Join, version: str, vocabulary: str) -> str:
    client, _ = join(version=version, vocabulary=vocabulary)
    client.send({"session": {"force_render_full_state": {}}})
    return NUMBER.sub(b"0", client.next().payload).decode()


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize("vocabulary", ["neutral", "inverse"])
def test_a_full_frame_without_modules_is_as_recorded(join: Join, version: str, vocabulary: str) -> None:
    recorded = json.loads(RECORDED.read_text())

    assert bytes_of_full_frame(join, version, vocabulary) == recorded[f"{version} {vocabulary}"]
