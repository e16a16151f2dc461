"""Static files of the dashboard: what is found, entity tags, the record of bundled libraries, no inline script or style."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from transport.dashboard.files import CONTENT_TYPES, FOLDER, StaticFiles, matches

ROOT = Path(__file__).parents[4]
VENDORED = (FOLDER / "vendor", ROOT / "tests" / "dashboard" / "vendor")
PACKAGE_LOCK = ROOT / "ops" / "vendor" / "package-lock.json"


def records(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "VENDOR.json").read_text(encoding="utf-8"))
    return found


def own(*suffixes: str) -> list[Path]:
    return [path for path in FOLDER.rglob("*") if path.suffix in suffixes and "vendor" not in path.parts]


def test_file_is_found_with_type_and_tag_of_its_content() -> None:
    found = StaticFiles().find("index.html")

    assert found is not None
    assert found.content == (FOLDER / "index.html").read_bytes()
    assert found.content_type == "text/html; charset=utf-8"
    assert found.etag == f'"{hashlib.sha256(found.content).hexdigest()[:32]}"'


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../files.py", "js", "js/../index.html", "/index.html", "INDEX.HTML", "index.html\0", "nope"],
)
def test_name_that_is_not_listed_is_not_found(name: str) -> None:
    assert StaticFiles().find(name) is None


def test_file_of_another_type_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x", encoding="utf-8")
    (tmp_path / "page.html").write_text("x", encoding="utf-8")

    assert StaticFiles(tmp_path).names == {"page.html"}


def test_file_that_went_behind_the_start_is_still_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("x", encoding="utf-8")
    files = StaticFiles(tmp_path)
    page.unlink()

    found = files.find("page.html")

    assert found is not None
    assert found.content == b"x"


def test_every_shipped_file_has_a_content_type() -> None:
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} <= set(CONTENT_TYPES)


@pytest.mark.parametrize(
    ("header", "expected"),
    [('"a"', True), ('W/"a"', True), ('"b", "a"', True), ("*", True), ('"b"', False), ("", False), ("a", False)],
)
def test_if_none_match_names_the_tag_or_not(header: str, expected: bool) -> None:
    assert matches(header, '"a"') is expected


@pytest.mark.parametrize("folder", VENDORED, ids=["shipped", "tests"])
def test_bundle_has_the_hash_of_its_record(folder: Path) -> None:
    rows = records(folder)

    assert rows
    for row in rows:
        content = (folder / row["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"], f"{row['file']}: run make vendor"
        assert len(content) == row["bytes"]


@pytest.mark.parametrize("folder", VENDORED, ids=["shipped", "tests"])
def test_every_vendored_file_has_a_record_and_a_licence(folder: Path) -> None:
    rows, licences = records(folder), (folder / "LICENSES.txt").read_text(encoding="utf-8")

    assert {path.name for path in folder.iterdir()} == {row["file"] for row in rows} | {"VENDOR.json", "LICENSES.txt"}
    for row in rows:
        for package in row["packages"]:
            assert re.search(rf"^{re.escape(package['name'])}\n=+\n", licences, re.MULTILINE), package["name"]
            assert package["licence"] in {"MIT", "Apache-2.0", "MPL-2.0"}


@pytest.mark.parametrize("folder", VENDORED, ids=["shipped", "tests"])
def test_recorded_packages_are_those_of_the_lock_file(folder: Path) -> None:
    locked = json.loads(PACKAGE_LOCK.read_text(encoding="utf-8"))["packages"]

    for package in (one for row in records(folder) for one in row["packages"]):
        found = locked[f"node_modules/{package['name']}"]
        assert (package["version"], package["integrity"]) == (found["version"], found["integrity"]), package["name"]


def test_libraries_that_every_view_needs_are_smaller_than_the_3d_library() -> None:
    sizes = {row["file"]: row["bytes"] for row in records(FOLDER / "vendor")}

    assert sizes["ui.js"] + sizes["plot.js"] + sizes["plot.css"] < 80_000
    assert sizes["scene.js"] < 600_000


def test_page_has_no_inline_script_or_style_and_names_no_other_host() -> None:
    page = (FOLDER / "index.html").read_text(encoding="utf-8")

    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=", page) == []
    assert re.findall(r"(?:src|href)=\"(?:[a-z]+:|//|/)", page) == []


@pytest.mark.parametrize("path", own(".js", ".css"), ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_own_file_fetches_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert re.findall(r"https?://(?!www\.w3\.org/)[a-z]", text) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text) == []
    assert path.suffix != ".css" or "url(" not in text


def test_3d_library_is_imported_only_when_its_view_is_shown() -> None:
    importers = [path for path in own(".js") if "vendor/scene.js" in path.read_text(encoding="utf-8")]

    assert importers
    for path in importers:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"^import[^;]*vendor/scene\.js", text, re.MULTILINE) == [], path
        assert 'import("' in text
