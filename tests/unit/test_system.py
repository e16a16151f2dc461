"""A whole System without HTTP and WebSocket: start, simulated devices, shutdown, restored state."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.device.manager import DeviceManager
from actors.device.messages import Phase, SimulatedSpec
from actors.device.simulated_identity import parse
from actors.kit.ask import ask_blocking
from actors.kit.errors import InvalidInput
from actors.kit.message import Request
from actors.session.messages import MANAGER as SESSIONS
from actors.session.messages import Client, OpenSession
from actors.settings.ledger import Ledger
from actors.settings.messages import STORE, ConfirmLedger, ResetSetting, SetSetting
from actors.settings.sources import read_overrides
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.system import System
from tests.support.service.actor_faults import drain_actor
from tests.support.service.polling import eventually
from transport.settings_catalog import SETTINGS_CATALOG

TIMEOUT_S = 20.0
# Of what a busy machine may spoil.
ATTEMPTS = 5
BASE = ["settings", "events", "fastpath", "ports", "devices", "pairing", "sessions", "detection"]
CALM = {"control/frequency": 1000, "simulation/settle_time": 0}

Make = Callable[..., System]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def make(folder: Path) -> Iterator[Make]:
    """A system on the test's state directory, one after the other; the last one is stopped after the test."""
    made: list[tuple[System, StateDirectory]] = []

    def end() -> None:
        while made:
            system, directory = made.pop()
            system.stop()
            directory.close()

    def begin(simulated: tuple[SimulatedSpec, ...] | None = None, **settings: object) -> System:
        end()
        directory = StateDirectory(folder)
        directory.open()
        wanted = {**CALM, **{key.replace("__", "/"): value for key, value in settings.items()}}
        overrides = read_overrides(
            SETTINGS_CATALOG,
            [f"{key}={json.dumps(value)}" for key, value in wanted.items() if value is not None or key not in CALM],
        )
        try:
            state = SettingsState.load(directory, SETTINGS_CATALOG, overrides)
            system = System(state, Ledger.load(directory), unwanted, simulated=simulated, realtime=False)
        except BaseException:
            directory.close()
            raise
        made.append((system, directory))
        return system

    yield begin
    end()


def unwanted(name: str, error: Exception) -> None:
    raise AssertionError(f"{name} failed: {error!r}")


def started(system: System) -> System:
    """Started, with every device ready."""
    system.start()

    def ready() -> bool:
        inventory = system.inventory.value
        return not inventory.choosing and all(one.phase is Phase.READY for one in inventory.devices)

    eventually(ready, "all are ready", pause_s=0.002)
    return system


def ask(system: System, name: str, request: Request[Any]) -> Any:
    return ask_blocking(system.context.directory, name, request, timeout_s=TIMEOUT_S)


def threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("hd-"))


def no_thread_is_left() -> None:
    """Wait for it: an actor's thread ends a moment after whoever stopped it goes on."""
    eventually(lambda: threads() == [], "every thread has ended", pause_s=0.005)


def ticks(system: System) -> int:
    return int(system.runtime.loop_state()["ticks"])


def metric(system: System, name: str, **labels: str) -> float:
    return system.metrics.registry.get_sample_value(name, labels) or 0.0


# ---------------------------------------------------------------- start


def test_every_base_actor_starts_in_order_and_the_loop_runs(make: Make) -> None:
    system = started(make())

    names = system.context.directory.names()
    assert [name for name in names if name in BASE] == BASE
    assert system.runtime.running
    eventually(lambda: ticks(system) > 0, "the loop ticks", pause_s=0.002)
    assert {f"hd-{name}" for name in [*BASE, "time", "supervisor"]} <= set(threads())


def test_nothing_runs_before_start(make: Make) -> None:
    no_thread_is_left()
    system = make()

    assert not system.runtime.running
    assert threads() == []
    assert system.context.directory.names() == ()
    assert system.inventory.value.devices == ()


@pytest.mark.parametrize(
    ("setting", "kinds"),
    [
        (None, ["arm", "grip"]),
        ([], []),
        (["grip:wired", "pen", "compact"], ["grip", "pen", "compact"]),
        (["arm"] * 16, ["arm"] * 16),
    ],
)
def test_setting_selects_the_simulated_devices(make: Make, setting: list[str] | None, kinds: list[str]) -> None:
    system = started(make(devices__simulated=setting))

    assert [str(record.kind) for record in system.inventory.value.devices] == kinds
    assert system.runtime.slots()[1] == len(kinds)


def test_explicit_devices_precede_the_setting(make: Make) -> None:
    system = started(make((parse("pen"),), devices__simulated=["arm"]))

    assert [str(record.kind) for record in system.inventory.value.devices] == ["pen"]


def test_too_many_devices_are_refused_before_anything_starts(make: Make) -> None:
    no_thread_is_left()
    with pytest.raises(InvalidInput, match="at most 16"):
        make((parse("arm"),) * 17)

    assert threads() == []


def test_failed_start_stops_everything_started(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_manager: DeviceManager) -> None:
        raise OSError("no devices today")

    monkeypatch.setattr(DeviceManager, "started", fail)
    system = make()

    with pytest.raises(OSError, match="no devices today"):
        system.start()

    assert not system.runtime.running
    no_thread_is_left()


def test_two_systems_run_side_by_side(make: Make, tmp_path: Path) -> None:
    first = started(make())
    with StateDirectory(tmp_path / "other") as directory:
        second = System(
            SettingsState.load(
                directory, SETTINGS_CATALOG, read_overrides(SETTINGS_CATALOG, ["control/frequency=500"])
            ),
            Ledger.load(directory),
            unwanted,
            simulated=(parse("compact"),),
            realtime=False,
        )
        second.start()
        try:
            assert [str(record.kind) for record in second.inventory.value.devices] == ["compact"]
            assert [str(record.kind) for record in first.inventory.value.devices] == ["arm", "grip"]
            second.stops.stop()
            eventually(lambda: second.inventory.value.devices[0].stopped, "the stop is shown")
            assert [record.stopped for record in first.inventory.value.devices] == [False, False]
        finally:
            second.stop()
        assert first.runtime.running


# ---------------------------------------------------------------- while it runs


def test_setting_reaches_the_loop(make: Make) -> None:
    system = started(make(control__frequency=None))

    ask(system, STORE, SetSetting("control/frequency", 500))

    def rate() -> float:
        return float(system.runtime.loop_state()["target_frequency"])

    eventually(lambda: rate() == 500, "the loop has its new rate", pause_s=0.005)
    ask(system, STORE, ResetSetting("control/frequency"))
    eventually(lambda: rate() == 4000, "the loop has its default rate", pause_s=0.005)


def test_setting_change_causes_no_unknown_message(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    system = started(make())

    ask(system, STORE, SetSetting("sessions/command_timeout", 0.2))
    ask(system, STORE, SetSetting("simulation/seed", 7))
    ask(system, STORE, ResetSetting("simulation/seed"))
    for name in system.context.directory.names():
        if name != "supervisor":
            drain_actor(system.context.directory, name)

    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    unknown = [
        sample
        for family in system.metrics.registry.collect()
        for sample in family.samples
        if sample.name == "hapticd_messages_unknown_total"
    ]
    assert unknown == []


def test_timekeeper_feeds_the_dead_mans_switch_and_timers(make: Make) -> None:
    def trips() -> int:
        system = started(make(simulation__settle_time=0.05))
        eventually(lambda: ticks(system) > 700, "the loop ran for 0.7 s", pause_s=0.02)
        return int(system.runtime.loop_state()["dead_man_trips"])

    assert any(trips() == 0 for _ in range(ATTEMPTS))


def test_the_page_of_metrics_shows_loop_and_devices(make: Make) -> None:
    system = started(make())

    assert metric(system, "hapticd_devices", type="arm", phase="ready") == 1
    assert metric(system, "hapticd_devices", type="grip", phase="ready") == 1
    eventually(lambda: metric(system, "hapticd_loop_ticks_total") > 0, "ticks are counted", pause_s=0.005)


# ---------------------------------------------------------------- stop


def test_stop_ends_with_zero_force_and_no_thread(make: Make) -> None:
    system = started(make())
    arm = system.inventory.value.devices[0]
    handle = ask(system, SESSIONS, OpenSession(Client("127.0.0.1", "3.1"), lambda: None))
    writer, reader = system.runtime.writer(handle.lease, arm.lease), system.runtime.reader(arm.lease)

    def pushes() -> bool:
        writer.force(0, 0, 1)
        writer.publish()
        return bool(reader.snapshot()["force"][2] > 0.9)

    eventually(pushes, "the force is applied", pause_s=0.002)
    writer.publish()

    system.stop()

    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert not system.runtime.running
    no_thread_is_left()


def test_repeated_stop_has_no_effect(make: Make) -> None:
    system = started(make())

    system.stop()
    system.stop()

    no_thread_is_left()


def test_unstarted_system_can_be_stopped(make: Make) -> None:
    make().stop()


# ---------------------------------------------------------------- what the next one remembers


def test_stop_latch_survives_until_released(make: Make) -> None:
    first = started(make())
    first.stops.stop()
    ask(first, STORE, ConfirmLedger())

    second = started(make())
    assert second.stops.latch.value.everything
    assert [record.stopped for record in second.inventory.value.devices] == [True, True]

    second.stops.release()
    ask(second, STORE, ConfirmLedger())
    third = started(make())
    assert [record.stopped for record in third.inventory.value.devices] == [False, False]


def test_session_ids_are_never_reused(make: Make) -> None:
    def opened() -> int:
        request = OpenSession(Client("127.0.0.1", "3.1"), lambda: None)
        session_id: int = ask(started(make()), SESSIONS, request).session_id
        return session_id

    ids = [opened() for _ in range(3)]

    assert ids == sorted(set(ids))
    assert ids[0] >= 1


def test_unreadable_ledger_stops_every_device_and_repeats_no_id(make: Make, folder: Path) -> None:
    with StateDirectory(folder) as directory:
        directory.ledger.write_text('{"format": 1, "next_session_id": 5001, "stop": {"everything": true')

    system = started(make())
    request = OpenSession(Client("127.0.0.1", "3.1"), lambda: None)

    assert [record.stopped for record in system.inventory.value.devices] == [True, True]
    assert ask(system, SESSIONS, request).session_id > 5001
    system.stop()
    assert [record.stopped for record in started(make()).inventory.value.devices] == [True, True]


@pytest.mark.parametrize(
    ("sections", "stopped"),
    [
        ({"stop": {"everything": "perhaps"}}, True),
        ({"stop": 5, "sessions": 5}, True),
        ({"sessions": {"sessions": 7, "versions": [1]}}, False),
        ({"sessions": {"sessions": [[1, "a", "x"], "y"], "versions": {"a": None}}, "more": []}, False),
    ],
)
def test_garbage_ledger_does_not_prevent_the_start(
    make: Make, folder: Path, sections: dict[str, object], stopped: bool
) -> None:
    with StateDirectory(folder) as directory:
        directory.ledger.write_text(json.dumps({"format": 1, **sections}))

    system = started(make())

    assert [record.stopped for record in system.inventory.value.devices] == [stopped, stopped]
    assert system.open_sessions.memory.value.sessions == {}
