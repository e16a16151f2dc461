"""A real Prometheus scrapes the service; promtool accepts the metrics page, the scrape job and the alert rules."""

from __future__ import annotations

import json
import shutil
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from actors.kit.metric_catalog import METRIC_ROWS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.prometheus_server import OPS, faster_job, prometheus, promtool
from tests.support.suite.dashboard import expressions, read_dashboard

TICKS = "hapticd_loop_ticks_total"
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian package prometheus)"
)
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is not installed (Debian package prometheus)"
)


@needs_promtool
def test_the_scrape_job_is_valid() -> None:
    promtool("check", "config", "scrape.yml")


@needs_promtool
def test_alert_rules_are_valid_and_fire_on_their_conditions() -> None:
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts.test.yml")


@needs_promtool
def test_expressions_of_the_dashboard_are_valid_rules(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{index}", "expr": text} for index, text in enumerate(expressions(read_dashboard()))]
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")

    assert f"{len(rules)} rules found" in promtool("check", "rules", str(file))


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


@needs_promtool
def test_the_metrics_page_keeps_the_conventions(service: RunningService) -> None:
    assert promtool("check", "metrics", text=service.metrics()) == ""


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text"])
def test_scrape_has_nothing_that_the_catalogue_does_not_declare(service: RunningService, accept: str) -> None:
    request = urllib.request.Request(f"{service.http}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
    parse = openmetrics if accept == "application/openmetrics-text" else text_string_to_metric_families
    declared = {name: set(labels) for row in METRIC_ROWS.values() for name, labels in row.samples.items()}

    families = list(parse(text))

    assert {family.name: (family.type, family.documentation) for family in families} == {
        row.name: (row.type, row.help) for row in METRIC_ROWS.values()
    }
    samples = [sample for family in families for sample in family.samples]
    assert {sample.name: set(sample.labels) for sample in samples}.items() <= declared.items()
    # What needs no cause of its own is there at once.
    assert {name for name, labels in declared.items() if labels <= {"le"}} <= {sample.name for sample in samples}


@needs_prometheus
def test_prometheus_scrapes_the_service_and_sees_its_ticks_grow(service: RunningService, tmp_path: Path) -> None:
    target = urllib.parse.urlsplit(service.http).netloc
    (tmp_path / "prometheus.yml").write_text(faster_job([target]), encoding="utf-8")
    shutil.copy(OPS / "alerts.yml", tmp_path)

    with prometheus(tmp_path) as api:
        eventually(lambda: api.query(f'up{{job="hapticd", instance="{target}"}}') == 1.0, "the target is up")
        first = eventually(lambda: api.query(TICKS), f"{TICKS} was stored")
        eventually(lambda: (api.query(TICKS) or 0.0) > first, f"{TICKS} grew")
        assert api.query("hapticd_sessions_open") == 0.0
        (loaded,) = api.ask("/api/v1/rules")["groups"]
        for expression in expressions(read_dashboard()):
            api.query(expression)

    assert len(loaded["rules"]) == (OPS / "alerts.yml").read_text(encoding="utf-8").count("- alert:")
    assert {rule["health"] for rule in loaded["rules"]} <= {"ok", "unknown"}
