"""Build facts of GET /version: always the same string keys, also after an incomplete build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transport import build_info

KEYS = [
    "project_name",
    "project_version",
    "interface",
    "build_time",
    "git_hash",
    "git_branch",
    "git_tag",
    "git_describe",
]


def test_recorded_facts_are_shown(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"build_time": "2024-01-02T03:04:05+00:00", "git_hash": "abc", "git_tag": ""}))

    shown = build_info.build_info(record)

    assert list(shown) == KEYS
    assert shown["build_time"] == "2024-01-02T03:04:05+00:00"
    assert shown["git_hash"] == "abc"
    assert shown["git_tag"] == ""
    assert shown["git_branch"] == "unknown"


@pytest.mark.parametrize("text", [None, "", "{", "[]", "\udcff", '{"git_hash": 3}'])
def test_missing_or_broken_record_shows_unknown(tmp_path: Path, text: str | None) -> None:
    record = tmp_path / "record.json"
    if text is not None:
        record.write_bytes(text.encode("utf-8", "surrogateescape"))

    shown = build_info.build_info(record)

    assert list(shown) == KEYS
    assert {shown[key] for key in build_info.RECORDED} == {"unknown"}


def test_the_version_has_four_parts_and_begins_with_the_interface() -> None:
    shown = build_info.build_info()

    assert shown["project_name"] == "hapticd"
    assert shown["interface"] == "3.5.3"
    assert shown["project_version"].startswith("3.5.3.")
    assert len(shown["project_version"].split(".")) == 4


def test_missing_distribution_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_info, "PROJECT_NAME", "hapticd-that-nobody-installed")

    assert build_info.project_version() == "unknown"
