"""`/`, `/version`, `/metrics`, `/healthz`, `/readyz`: the routes that machines poll."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from actors.control.messages import GapCause, Interruption, LoopWatch
from actors.device.messages import Inventory, Phase
from actors.port.messages import PortStatus, PortTable
from actors.values.identity import Kind
from fastpath.arena.runtime import now_ns
from tests.service.edge_server import BUILD, EdgeServer
from transport.http.resources.health import readiness


@pytest.mark.parametrize("path", ["/", "", "/version", "/version/", "/3.0", "/3.1/", "/3.0/version", "/?x=1"])
def test_version_is_answered(rig: EdgeServer, path: str) -> None:
    assert rig.get(path).json == {**BUILD, "instance": rig.bridge.instance}


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_root_answers_the_version_to_a_program(rig: EdgeServer, accept: str) -> None:
    assert rig.get("/", Accept=accept).json == {**BUILD, "instance": rig.bridge.instance}


# ---------------------------------------------------------------- metrics


def test_metrics_page_is_prometheus_text(rig: EdgeServer) -> None:
    rig.context.metrics.frames_sent.inc(3)

    reply = rig.get("/metrics")

    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    assert "hapticd_frames_sent_total 3.0\n" in reply.body.decode()


def test_prometheus_may_request_openmetrics(rig: EdgeServer) -> None:
    reply = rig.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")

    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    assert reply.body.endswith(b"# EOF\n")


@pytest.mark.parametrize("accept", ["", "text/plain;version=1.0.0", "application/openmetrics-text;version=1.0.0"])
def test_metrics_page_is_rebuilt_at_most_twice_a_second(
    rig: EdgeServer, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    now_s = [1.0]
    monkeypatch.setattr(rig.edge.body_cache.metrics, "_now_ns", lambda: round(now_s[0] * 1e9))
    shown: list[str] = []
    for frames in range(1, 7):
        rig.context.metrics.frames_sent.inc()
        (line,) = re.findall(
            r"^hapticd_frames_sent_total (\S+)$", rig.get("/metrics", Accept=accept).body.decode(), re.MULTILINE
        )
        shown.append(line)
        if frames == 4:
            now_s[0] += 1

    assert shown == ["1.0", "2.0", "2.0", "2.0", "5.0", "6.0"]


@pytest.mark.parametrize("version", ["1.0.1", "7.5", "99"])
def test_unknown_metrics_formats_share_one_page(rig: EdgeServer, version: str) -> None:
    reply = rig.get("/metrics", Accept=f"application/openmetrics-text;version={version};escaping=dots")

    assert reply.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"


def test_enveloped_metrics_are_one_string(rig: EdgeServer) -> None:
    assert "hapticd_frames_sent_total" in rig.get("/metrics?format=json").json["data"]


# ---------------------------------------------------------------- health


def test_healthz_is_200_while_running(rig: EdgeServer) -> None:
    rig.runtime.running = False

    assert rig.get("/healthz").json == {"status": "ok"}


def test_readyz_is_200_when_everything_is_ready(rig: EdgeServer) -> None:
    rig.add_device("049D")
    rig.add_device("1605", Kind.GRIP, Phase.ASLEEP)

    assert readiness(rig.bridge) is None
    assert rig.get("/readyz").json == {"status": "ready"}


def test_readyz_is_200_with_the_devices_that_lost_force(rig: EdgeServer) -> None:
    lost = Interruption("049D", "arm", 60.0, 31, 0.084, 1.2, 0.04, GapCause.STOLEN_TIME)
    rig.loop_watch.replace(LoopWatch(interruptions=(lost,)))

    reply = rig.get("/readyz")

    assert (reply.status, reply.json) == (
        200,
        {
            "status": "ready",
            "interruptions": [
                {
                    "device_id": "049D",
                    "interrupted_s": 1.2,
                    "force_lost": 0.04,
                    "gaps": 31,
                    "longest_ms": 84,
                    "window_s": 60,
                    "cause": "stolen_time",
                }
            ],
        },
    )


def test_sleeping_simulated_device_keeps_the_service_ready(rig: EdgeServer) -> None:
    rig.add_device("049D")
    rig.add_device("1605", Kind.GRIP)
    assert rig.get("/readyz").status == 200
    inventory = rig.bridge.system.inventory

    arm, grip = inventory.value.devices
    inventory.replace(replace(inventory.value, devices=tuple(replace(one, phase=Phase.ASLEEP) for one in (arm, grip))))

    assert (rig.get("/readyz").status, rig.get("/readyz").json) == (200, {"status": "ready"})


def test_unplugged_simulated_device_is_not_ready_unless_its_port_is_blocked(rig: EdgeServer) -> None:
    rig.add_device("049D")
    inventory = rig.bridge.system.inventory
    record = inventory.value.get("049D")
    inventory.replace(replace(inventory.value, devices=(), unplugged=(record,)))

    assert "Device 049D is unplugged" in rig.get("/readyz").error

    port = PortStatus(record.identity.port, record.identity.port, configured_since="2026-01-01T00:00:00Z")
    rig.bridge.system.ports.replace(PortTable((port,)))
    assert rig.get("/readyz").status == 200


@pytest.mark.parametrize("phase", [Phase.CONNECTING, Phase.SETTLING, Phase.DISCONNECTED, Phase.FAILED])
def test_simulated_device_must_be_ready_for_readyz(rig: EdgeServer, phase: Phase) -> None:
    rig.add_device("049D", phase=phase)

    reply = rig.get("/readyz")

    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    assert f"Device 049D is {phase}" in reply.error


def test_real_device_need_not_be_ready_for_readyz(rig: EdgeServer) -> None:
    rig.add_device("049D", phase=Phase.SETTLING, simulated=False)

    assert rig.get("/readyz").status == 200


def test_failed_simulated_device_is_reported_by_readyz(rig: EdgeServer) -> None:
    rig.add_device("049D")
    (record,) = rig.inventory.value.devices
    rig.inventory.replace(Inventory(failed=(replace(record, phase=Phase.FAILED),)))

    assert "049D has failed" in rig.get("/readyz").error


def test_stopped_loop_is_reported_by_readyz(rig: EdgeServer) -> None:
    rig.runtime.running = False

    assert "does not run" in rig.get("/readyz").error


def test_loop_without_ticks_is_reported_by_readyz(rig: EdgeServer) -> None:
    rig.runtime.tick_ns = now_ns() - 1_500_000_000

    assert "has not ticked for 1." in rig.get("/readyz").error


@pytest.mark.parametrize(
    ("listening", "stopping", "says"), [(False, False, "starting"), (True, True, "stopping"), (False, True, "stopping")]
)
def test_starting_or_stopping_service_is_alive_and_not_ready(
    rig: EdgeServer, listening: bool, stopping: bool, says: str
) -> None:
    rig.bridge.listening, rig.bridge.stopping = listening, stopping

    reply = rig.get("/readyz")

    assert (reply.status, says in reply.error) == (503, True)
    assert rig.get("/healthz").status == 200
    assert rig.get("/metrics").status == 200
    assert rig.get("/version").status == 503
