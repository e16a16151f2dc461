"""The table of where the suite's time goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.suite.times import BEGIN, END, spent, table, write

REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.wire.test_a" name="one" time="1.5"/>
<testcase classname="tests.unit.test_b" name="two" time="0.5"/>
<testcase classname="tests.service.ws.test_c" name="three" time="4"/>
<testcase classname="tests.test_d" name="four"/>
</testsuite></testsuites>"""


def test_seconds_are_added_by_folder_the_longest_first(tmp_path: Path) -> None:
    whole, broken = tmp_path / "a.xml", tmp_path / "b.xml"
    whole.write_text(REPORT)
    broken.write_text(REPORT[:100])

    found = spent([whole, broken, tmp_path / "nothing.xml"])

    assert [(folder, one.tests, one.seconds) for folder, one in found.items()] == [
        ("tests/service", 1, 4.0),
        ("tests/unit", 2, 2.0),
        ("tests", 1, 0.0),
    ]
    assert "| `tests/service` | 1 | 4 |" in table(found, 90)
    assert "1.5 min | 4 | 6 |" in table(found, 90)


def test_table_is_put_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nbehind\n")

    write("new", page)

    assert page.read_text() == f"before\n{BEGIN}\nnew\n{END}\nbehind\n"
    page.write_text("nothing")
    with pytest.raises(ValueError, match="substring not found"):
        write("new", page)
