"""A real Prometheus scrapes the service; promtool accepts the metrics page, the scrape job and the alert rules."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from actors.kit.metric_catalog import METRIC_ROWS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

OPS = Path(__file__).parents[2] / "ops" / "prometheus"
TICKS = "hapticd_loop_ticks_total"
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian package prometheus)"
)
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is not installed (Debian package prometheus)"
)


def promtool(*arguments: str, text: str | None = None) -> str:
    """What promtool says; it must be content and, for metrics, silent."""
    done = subprocess.run(
        ["promtool", *arguments], cwd=OPS, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_promtool
def test_the_scrape_job_is_valid() -> None:
    promtool("check", "config", "scrape.yml")


@needs_promtool
def test_alert_rules_are_valid_and_fire_on_their_conditions() -> None:
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts.test.yml")


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
    job = (OPS / "scrape.yml").read_text(encoding="utf-8")
    assert "127.0.0.1:10001" in job
    job = job.replace("127.0.0.1:10001", target).replace("scrape_interval: 5s", "scrape_interval: 1s")
    (tmp_path / "prometheus.yml").write_text(job, encoding="utf-8")
    shutil.copy(OPS / "alerts.yml", tmp_path)

    with prometheus(tmp_path) as api:
        eventually(lambda: query(api, f'up{{job="hapticd", instance="{target}"}}') == 1.0, "the target is up")
        first = eventually(lambda: query(api, TICKS), f"{TICKS} was stored")
        eventually(lambda: (query(api, TICKS) or 0.0) > first, f"{TICKS} grew")
        assert query(api, "hapticd_sessions_open") == 0.0
        (loaded,) = ask(api, "/api/v1/rules")["groups"]

    assert len(loaded["rules"]) == (OPS / "alerts.yml").read_text(encoding="utf-8").count("- alert:")
    assert {rule["health"] for rule in loaded["rules"]} <= {"ok", "unknown"}


@contextmanager
def prometheus(folder: Path) -> Generator[str]:
    """Base URL of a Prometheus of its own that runs with prometheus.yml of `folder` and keeps its data there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    log = folder / "prometheus.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: is_ready(server, base), "prometheus is ready")
        yield base
    except BaseException:
        sys.stdout.write(log.read_text())
        raise
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def is_ready(server: subprocess.Popen[bytes], base: str) -> bool:
    """Whether Prometheus answers; AssertionError when it has ended."""
    assert server.poll() is None, "prometheus ended at start"
    try:
        with urllib.request.urlopen(f"{base}/-/ready", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def query(base: str, expression: str) -> float | None:
    """The value of a query with one result, None while there is none."""
    result = ask(base, "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))["result"]
    return float(result[0]["value"][1]) if result else None


def ask(base: str, path: str) -> Any:
    """The data of one answer of Prometheus' API."""
    with urllib.request.urlopen(base + path, timeout=10) as answer:
        content = json.load(answer)
    assert content["status"] == "success", content
    return content["data"]
