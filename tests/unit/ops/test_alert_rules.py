"""Alert rules ask for metrics and labels that exist, and each leads to its section of the runbook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from ops.runbook_page import page
from tests.support.suite.promql import faults, result_labels
from transport.dashboard.files import FOLDER

OPS: Final = Path(__file__).parents[3] / "ops"
(GROUP,) = yaml.safe_load((OPS / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))["groups"]
RULES: Final[list[Any]] = GROUP["rules"]
TESTS: Final = (OPS / "prometheus" / "alerts.test.yml").read_text(encoding="utf-8")
RUNBOOK: Final = (OPS / "runbook.md").read_text(encoding="utf-8")
SERVED: Final = (FOLDER / "runbook.html").read_text(encoding="utf-8")
SECTIONS: Final = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", RUNBOOK, flags=re.MULTILINE)[1:]}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
class TestRule:
    def test_asks_for_metrics_and_labels_that_exist(self, rule: Any) -> None:
        assert faults(rule["expr"]) == []
        words = " ".join(rule["annotations"].values())
        assert set(re.findall(r"\$labels\.(\w+)", words)) <= result_labels(rule["expr"])

    def test_has_a_severity_and_words(self, rule: Any) -> None:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
        assert "{{ $labels.instance }}" in rule["annotations"]["summary"]

    def test_leads_to_its_section_of_the_runbook(self, rule: Any) -> None:
        anchor = rule["alert"].lower()
        page = f"http://{{{{ $labels.instance }}}}/dashboard/runbook.html#{anchor}"
        assert rule["annotations"]["runbook_url"] == page
        assert f'<h2 id="{anchor}">{rule["alert"]}</h2>' in SERVED
        section = SECTIONS[rule["alert"]]
        for part in ("**What it means.**", "**What to look at.**", "**What mends it.**"):
            assert part in section, part
        assert re.search(r"^    \$ ", section, re.MULTILINE), "no command"

    def test_fires_and_stays_silent_in_the_tests_of_the_rules(self, rule: Any) -> None:
        silent, *fired = re.findall(rf"alertname: {rule['alert']}\b(?:, exp_alerts: \[\] }}|\n)", TESTS)
        assert "[]" in silent
        assert any("[]" not in one for one in fired)


def test_sections_of_alerts_are_those_of_the_rules_in_their_order() -> None:
    assert [title for title in SECTIONS if title.startswith("Hapticd")] == [rule["alert"] for rule in RULES]


def test_served_runbook_is_current_and_leads_nowhere_that_is_not_there() -> None:
    assert page(RUNBOOK) == SERVED, "transport/dashboard/static/runbook.html is old: make docs writes it again"
    anchors = set(re.findall(r'id="([^"]+)"', SERVED))
    assert set(re.findall(r'href="#([^"]+)"', SERVED)) <= anchors
