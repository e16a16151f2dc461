"""The commit check accepts `topic: imperative`, refuses other subjects with the reason, and finds the new commits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lint.commit_subjects import fault, new_commits


@pytest.mark.parametrize(
    "subject",
    [
        "build: rebuild only the extensions that include a changed source",
        "tests, docs: pass the address on",
        "link: speed the scan up",
        f"docs: {'a' * 66}",
    ],
)
def test_a_subject_with_topic_and_imperative_passes(subject: str) -> None:
    assert fault(subject) is None


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        (f"docs: {'a' * 67}", "73 characters"),
        ("rebuild only what changed", "form"),
        ("build: Rebuild only what changed", "form"),
        ("build: rebuild only what changed.", "form"),
        ("build: rebuilds only what changed", "'rebuilds'"),
        ("build: fixed the flags", "'fixed'"),
        ("build: fixing the flags", "'fixing'"),
        ("docs: the drawing of the cells", "'the'"),
        ("docs: nicer words", "'nicer'"),
    ],
)
def test_any_other_subject_is_refused_with_the_reason(subject: str, why: str) -> None:
    assert why in (fault(subject) or "")


def test_a_history_without_the_base_has_no_new_commits(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)

    assert new_commits(tmp_path) == []
