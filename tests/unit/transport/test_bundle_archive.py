"""Archive of a support bundle: a fixed list of files, each without secrets and bounded, valid to its end where that matters."""

from __future__ import annotations

import io
import json
import os
import zipfile

import pytest

from transport.build_info import build_info
from transport.bundle_archive import CONTENTS, CUT, LONGEST_FILE, README, archive, bounded, bundle_name, versions
from transport.log_format import Redaction

SECRET = "kq7-Tn4_secretsecretsecretsecret"
PLANTED = (f"Authorization: Bearer {SECRET}", f"https://user:{SECRET}@host/", f"?token={SECRET}", f"password={SECRET}")


def unpacked(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        assert zipped.testzip() is None
        return {name: zipped.read(name).decode() for name in zipped.namelist()}


@pytest.mark.parametrize("text", PLANTED)
@pytest.mark.parametrize("name", CONTENTS)
def test_no_file_has_a_planted_secret(name: str, text: str) -> None:
    content: object = f"a\n{text}\nb" if name.endswith(".txt") else [{"message": text, "deep": [{text: text}]}]

    found = unpacked(archive({name: content}, Redaction()))

    assert SECRET not in "".join(found.values())
    assert "[hidden]" in found[name]


def test_known_secret_is_hidden_wherever_it_stands() -> None:
    redaction = Redaction()
    redaction.hide([SECRET])
    files = {"metrics.txt": f"a{SECRET}b", "settings.json": {"x": [f"{SECRET}!"], SECRET: 1}, "log.jsonl": [SECRET]}

    assert SECRET not in "".join(unpacked(archive(files, redaction)).values())


def test_readme_lists_the_files_of_the_bundle() -> None:
    found = unpacked(archive({"log.jsonl": [], "doctor.txt": "ok"}, Redaction(), "by a test"))

    assert list(found) == [README, "log.jsonl", "doctor.txt"]
    assert "by a test" in found[README]
    assert "log.jsonl" in found[README]
    assert "metrics.txt" not in found[README]


def test_long_text_is_cut_with_a_note() -> None:
    found = bounded("metrics.txt", "x" * 100 + "\n" * LONGEST_FILE, Redaction())

    assert len(found) == LONGEST_FILE
    assert found.endswith(CUT)


def test_long_json_lines_lose_the_oldest_ones() -> None:
    found = bounded("log.jsonl", [{"at": at, "message": "x" * 10_000} for at in range(300)], Redaction())

    assert LONGEST_FILE - 11_000 < len(found) <= LONGEST_FILE
    lines = [json.loads(line) for line in found.splitlines()]
    assert lines[-1]["at"] == 299


def test_lone_surrogate_is_written_escaped() -> None:
    assert bounded("doctor.txt", "a\udc80b", Redaction()) == b"a\\udc80b\n"
    assert json.loads(bounded("settings.json", {"a": "\udc80"}, Redaction())) == {"a": "\udc80"}


def test_versions_name_what_runs_here_but_not_the_machine() -> None:
    found = versions(build_info())

    assert found["hapticd"] == build_info()
    assert isinstance(found["libraries"], dict)
    assert found["libraries"]["tornado"]
    assert str(found["python"]).startswith("CPython 3.")
    assert os.uname().release in str(found["kernel"])
    assert os.uname().nodename not in json.dumps({**found, "kernel": ""})


def test_name_of_a_bundle_says_when_it_was_made() -> None:
    assert bundle_name(1_769_860_800) == "hapticd-support-20260131-120000.zip"
