"""ops/grafana/hapticd.json shows metrics that exist, by labels that they have."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from actors.kit.metric_catalog import METRIC_ROWS, OLD_NAMES
from tests.support.suite.dashboard import plain, read_dashboard
from tests.support.suite.promql import bare_counters, faults, result_labels

BOARD: Final = read_dashboard()
PANELS: Final = [panel for panel in BOARD["panels"] if panel["type"] != "row"]


def targets() -> list[Any]:
    return [
        pytest.param(target["expr"], target["legendFormat"], id=f"{panel['title']} {target['refId']}")
        for panel in PANELS
        for target in panel["targets"]
    ]


@pytest.mark.parametrize(("expression", "legend"), targets())
def test_panel_asks_for_metrics_and_labels_that_exist(expression: str, legend: str) -> None:
    expression = plain(BOARD, expression)

    assert faults(expression) == []
    assert bare_counters(expression) == []
    assert set(re.findall(r"{{(\w+)}}", legend)) <= result_labels(expression)


@pytest.mark.parametrize("variable", [one for one in BOARD["templating"]["list"] if one["type"] == "query"])
def test_variable_asks_for_a_label_of_a_metric(variable: Any) -> None:
    found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])

    assert found is not None
    assert faults(plain(BOARD, found[1])) == []
    assert found[2] in result_labels(plain(BOARD, found[1]))


def test_every_metric_is_on_the_dashboard_except_details() -> None:
    asked = " ".join(target["expr"] for panel in PANELS for target in panel["targets"])
    shown = {row.name for row in METRIC_ROWS.values() for name in row.samples if re.search(rf"\b{name}\b", asked)}

    assert METRIC_ROWS.keys() - shown - OLD_NAMES.keys() == {
        "hapticd_build_info",
        "hapticd_loop_spin_margin_seconds",
        "hapticd_loop_lateness_max_seconds",
        "hapticd_loop_tick_seconds",
        "process_virtual_memory_bytes",
    }


def test_panels_have_ids_words_and_places_of_their_own() -> None:
    ids = [panel["id"] for panel in BOARD["panels"]]
    taken: set[tuple[int, int]] = set()

    assert len(set(ids)) == len(ids)
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert all(panel["title"] and panel["description"].endswith(".") for panel in PANELS)
    assert all(panel["fieldConfig"]["defaults"]["unit"] for panel in PANELS)


def test_dashboard_is_importable_anywhere() -> None:
    sources = {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]}

    assert sources == {"${datasource}"}
    assert BOARD["uid"] == "hapticd"
    assert "id" not in BOARD


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("hapticd_loop_tickz_total", "no metric hapticd_loop_tickz_total"),
        ('hapticd_port_open{device_id="1"}', "has no label device_id"),
        ("sum by (port) (hapticd_ready)", "has port"),
        ("histogram_quantile(0.9, sum by (job) (rate(hapticd_loop_lateness_seconds_bucket[1m])))", "has no le"),
        ("hapticd_ready * on (port) hapticd_port_open", "both sides"),
        ('rate(hapticd_loop_ticks_total{port="1"}[1m])', "has no label port"),
    ],
)
def test_fault_of_an_expression_is_found(expression: str, fault: str) -> None:
    (found,) = faults(expression)

    assert fault in found


def test_counter_without_a_rate_is_found() -> None:
    assert bare_counters("hapticd_loop_ticks_total + rate(hapticd_loop_gaps_total[1m])") == ["hapticd_loop_ticks_total"]


def test_what_is_no_promql_is_refused() -> None:
    with pytest.raises(ValueError, match="unclosed"):
        faults("sum by (")
