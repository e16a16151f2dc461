"""Build facts (version, commit, date) for `GET /` and `GET /version`, read once at start."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Final, cast

from actors.values.interface import INTERFACE

PROJECT_NAME: Final = "hapticd"
UNKNOWN: Final = "unknown"
BUILD_RECORD: Final = Path(__file__).with_name("_build_info.json")
RECORDED: Final = ("build_time", "git_hash", "git_branch", "git_tag", "git_describe")


def build_info(record: Path = BUILD_RECORD) -> dict[str, str]:
    """Return the answer's members in order; `unknown` where the build recorded nothing, an empty git_tag for an untagged commit."""
    recorded = read_record(record)
    return {
        "project_name": PROJECT_NAME,
        "project_version": project_version(),
        "interface": INTERFACE,
        **{key: recorded.get(key, UNKNOWN) for key in RECORDED},
    }


def project_version() -> str:
    """Return the version: three parts of the interface and one of the service; `unknown` when the package is not installed."""
    try:
        return metadata.version(PROJECT_NAME)
    except metadata.PackageNotFoundError:
        return UNKNOWN


def read_record(record: Path) -> dict[str, str]:
    """Return the build record's strings; empty when it is missing or unreadable."""
    try:
        content: object = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    facts = cast("dict[str, object]", content)
    return {key: value for key, value in facts.items() if isinstance(value, str)}
