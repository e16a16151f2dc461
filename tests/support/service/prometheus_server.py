"""A Prometheus of its own for a test, with the rules of ops/prometheus, and promtool."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.service.polling import eventually

OPS: Final = Path(__file__).parents[3] / "ops" / "prometheus"
# What a duration of the rules becomes: a tenth, as the services are scraped ten times as often.
FASTER: Final = 10
LONGEST_FOR_MS: Final = 1_000
UNITS_MS: Final = {"s": 1_000, "m": 60_000}


def promtool(*arguments: str, text: str | None = None) -> str:
    """What promtool says; AssertionError unless it is content."""
    done = subprocess.run(
        ["promtool", *arguments], cwd=OPS, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def faster_rules(rules: str) -> str:
    """Return the rules for a Prometheus that scrapes and evaluates every half second instead of every 5 s.

    A range and an offset are a tenth as long, a `for` too but at most a second. Expressions and thresholds stay.
    """

    def tenth(found: re.Match[str]) -> str:
        return f"{found[1]}{_ms(found) // FASTER}ms"

    def short(found: re.Match[str]) -> str:
        return f"{found[1]}{min(_ms(found) // FASTER, LONGEST_FOR_MS)}ms"

    rules = re.sub(r"(\[|\boffset )(\d+)([sm])\b", tenth, rules)
    return re.sub(r"(\bfor: )(\d+)([sm])$", short, rules, flags=re.MULTILINE)


def faster_job(targets: list[str]) -> str:
    """Return scrape.yml for these targets (`host:port`), with half a second between scrapes and between evaluations."""
    job = (OPS / "scrape.yml").read_text(encoding="utf-8")
    for words, ours in (
        ('["127.0.0.1:10001"]', json.dumps(targets)),
        ("scrape_interval: 5s", "scrape_interval: 500ms"),
        ("evaluation_interval: 15s", "evaluation_interval: 500ms"),
    ):
        assert job.count(words) == 1, words
        job = job.replace(words, ours)
    return job


class Api:
    """The HTTP interface of a running Prometheus."""

    def __init__(self, base: str) -> None:
        self._base = base

    def query(self, expression: str) -> float | None:
        """The value of a query with one result, None while there is none."""
        result = self.ask("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))["result"]
        return float(result[0]["value"][1]) if result else None

    def fired(self) -> list[dict[str, str]]:
        """The labels of each alert that fires or has fired since the start."""
        history = urllib.parse.urlencode({"query": 'max_over_time(ALERTS{alertstate="firing"}[1h])'})
        return [one["metric"] for one in self.ask(f"/api/v1/query?{history}")["result"]]

    def ask(self, path: str) -> Any:
        """The data of one answer."""
        with urllib.request.urlopen(self._base + path, timeout=10) as answer:
            content = json.load(answer)
        assert content["status"] == "success", content
        return content["data"]


@contextmanager
def prometheus(folder: Path) -> Generator[Api]:
    """A Prometheus of its own that runs with prometheus.yml of `folder` and keeps its data there."""
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
        eventually(lambda: _is_ready(server, base), "prometheus is ready")
        yield Api(base)
    except BaseException:
        sys.stdout.write(log.read_text())
        raise
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def _is_ready(server: subprocess.Popen[bytes], base: str) -> bool:
    """Whether Prometheus answers; AssertionError when it has ended."""
    assert server.poll() is None, "prometheus ended at start"
    try:
        with urllib.request.urlopen(f"{base}/-/ready", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def _ms(found: re.Match[str]) -> int:
    return int(found[2]) * UNITS_MS[found[3]]
