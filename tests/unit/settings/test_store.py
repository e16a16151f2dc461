"""The settings store as a plain object: write to disk first, then publish, then notify."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event
from typing import Any

import pytest

from actors.kit.actor import Context
from actors.kit.ask import ask_blocking
from actors.kit.clock import ManualClock
from actors.kit.errors import InvalidInput, NoSuchSetting, StateNotWritable
from actors.kit.message import Announce, Message
from actors.kit.supervisor import Supervisor
from actors.settings.ledger import BLOCK, Ledger
from actors.settings.messages import (
    STORE,
    ConfirmLedger,
    ReserveSessionIds,
    ResetSetting,
    SaveLedger,
    SetSetting,
    SetSettings,
    SettingChanged,
)
from actors.settings.sources import read_overrides
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.settings.store import RETRY_S, SettingsStore
from transport.settings_catalog import SETTINGS_CATALOG

FullDisk = Callable[[], AbstractContextManager[object]]
RATE = "control/frequency"
PORT = "communication/websocket/port"
ARM_GATE = "devices/arm/filters/force_gate/gain"


class Kept:
    """A reference that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def tell(self, message: Message) -> None:
        self.messages.append(message)


def follower(context: Context, name: str) -> list[Message]:
    kept = Kept()
    ref: Any = kept
    context.directory.register(name, ref)
    return kept.messages


@pytest.fixture
def state(folder: StateDirectory) -> SettingsState:
    return SettingsState.load(folder, SETTINGS_CATALOG)


@pytest.fixture
def ledger(folder: StateDirectory) -> Ledger:
    return Ledger.load(folder)


@pytest.fixture
def store(context: Context, state: SettingsState, ledger: Ledger) -> SettingsStore:
    return SettingsStore(context, state, ledger, ("control", "device/*"))


def stored(folder: StateDirectory) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(folder.settings.read_bytes())
    return content


def test_a_set_value_is_answered_published_and_on_the_disk(
    store: SettingsStore, state: SettingsState, folder: StateDirectory
) -> None:
    view = store.on_receive(SetSetting(RATE, 8000))

    assert (view.key, view.value, view.effective, view.restart_required) == (RATE, 8000, 8000, False)
    assert state.view.value.integer(RATE) == 8000
    assert stored(folder) == {"format": 1, RATE: 8000}


def test_disk_is_written_before_anyone_is_notified(
    store: SettingsStore, state: SettingsState, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = follower(context, "control")
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        assert state.view.value.integer(RATE) == 4000
        assert heard == []
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    store.on_receive(SetSetting(RATE, 8000))

    assert heard == [SettingChanged(RATE, 8000)]


def test_value_is_published_before_subscribers_are_notified(
    store: SettingsStore, state: SettingsState, context: Context
) -> None:
    seen: list[int] = []

    class Looks:
        def tell(self, _message: Message) -> None:
            seen.append(state.view.value.integer(RATE))

    looks: Any = Looks()
    context.directory.register("control", looks)
    store.on_receive(SetSetting(RATE, 8000))

    assert seen == [8000]


def test_only_subscribers_are_notified_and_only_of_changes(store: SettingsStore, context: Context) -> None:
    control, device, other = (follower(context, name) for name in ("control", "device/049D", "devices"))
    store.on_receive(SetSetting(RATE, 8000))
    store.on_receive(SetSetting(RATE, 8000))
    store.on_receive(ResetSetting(RATE))
    store.on_receive(ResetSetting(RATE))

    assert control == device == [SettingChanged(RATE, 8000), SettingChanged(RATE, 4000)]
    assert other == []


def test_locked_value_is_stored_without_notification(
    store: SettingsStore, state: SettingsState, context: Context, folder: StateDirectory
) -> None:
    heard = follower(context, "control")
    view = store.on_receive(SetSetting(PORT, 12000))

    assert (view.value, view.effective, view.restart_required) == (12000, 10001, True)
    assert view.as_json()["restart_required"] is True
    assert stored(folder)[PORT] == 12000
    assert heard == []
    assert state.view.value.record(PORT).restart_required
    assert SettingsState.load(folder, SETTINGS_CATALOG).view.value.integer(PORT) == 12000


def test_answer_for_a_locked_value_always_says_when_it_applies(store: SettingsStore, state: SettingsState) -> None:
    store.on_receive(SetSetting(PORT, 12000))

    assert store.on_receive(SetSetting(PORT, 10001)).restart_required
    assert store.on_receive(ResetSetting(PORT)).restart_required
    assert not state.view.value.record(PORT).restart_required


def test_overridden_value_is_stored_without_effect(context: Context, folder: StateDirectory, ledger: Ledger) -> None:
    state = SettingsState.load(folder, SETTINGS_CATALOG, read_overrides(SETTINGS_CATALOG, [f"{RATE}=7000"]))
    heard = follower(context, "control")
    view = SettingsStore(context, state, ledger, ["control"]).on_receive(SetSetting(RATE, 8000))

    assert (view.value, view.effective, view.overridden_by) == (8000, 7000, "command line")
    assert heard == []
    assert SettingsState.load(folder, SETTINGS_CATALOG).view.value.integer(RATE) == 8000


def test_several_settings_are_answered_in_order_and_written_once(
    store: SettingsStore, folder: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    renames: list[object] = []
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        renames.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    views = store.on_receive(SetSettings({RATE: 8000, "control/spin": "off", ARM_GATE: 1}))

    assert [(view.key, view.value) for view in views] == [(RATE, 8000), ("control/spin", "off"), (ARM_GATE, 1.0)]
    assert [view.restart_required for view in views] == [False, True, False]
    assert len(renames) == 1
    assert stored(folder) == {"format": 1, RATE: 8000, "control/spin": "off", ARM_GATE: 1.0}


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (SetSetting(RATE, "fast"), InvalidInput),
        (SetSetting(RATE, None), InvalidInput),
        (SetSetting("control/speed", 1), NoSuchSetting),
        (SetSetting("communication/auth/required", value=False), InvalidInput),
        (SetSettings({"control/statistics_period": 5, RATE: "fast"}), InvalidInput),
        (SetSettings({"control/statistics_period": 5, "control/speed": 1}), NoSuchSetting),
        (ResetSetting("control/speed"), NoSuchSetting),
        (ResetSetting("future/thing"), NoSuchSetting),
    ],
)
def test_a_refused_request_changes_nothing(
    store: SettingsStore, state: SettingsState, folder: StateDirectory, request_: Message, error: type[Exception]
) -> None:
    before = state.view.value
    with pytest.raises(error):
        store.on_receive(request_)

    assert state.view.value is before
    assert not folder.settings.exists()


@pytest.mark.parametrize("request_", [SetSetting(RATE, 8000), SetSettings({RATE: 8000}), ResetSetting(RATE)])
def test_failing_disk_acknowledges_nothing(
    store: SettingsStore, context: Context, folder: StateDirectory, full_disk: FullDisk, request_: Message
) -> None:
    store.on_receive(SetSetting(RATE, 1000))
    published = store._settings.view
    before = published.value
    heard = follower(context, "control")
    with full_disk(), pytest.raises(StateNotWritable):
        store.on_receive(request_)

    assert published.value is before
    assert heard == []
    assert stored(folder)[RATE] == 1000

    store.on_receive(SetSetting(RATE, 2000))

    assert stored(folder)[RATE] == 2000


def test_broken_file_does_not_prevent_the_start(folder: StateDirectory, caplog: pytest.LogCaptureFixture) -> None:
    folder.settings.write_bytes(b'{"control/frequency": 80')
    state = SettingsState.load(folder, SETTINGS_CATALOG)

    assert state.view.value.integer(RATE) == 4000
    assert "kept as settings.json.broken-1, defaults are used" in caplog.text


def test_each_stored_value_that_cannot_be_used_is_one_log_line(
    folder: StateDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    folder.settings.write_text('{"control/frequency": "fast", "future/thing": 1, "control/spin": "off"}')
    state = SettingsState.load(folder, SETTINGS_CATALOG)

    assert state.view.value.integer(RATE) == 4000
    assert state.view.value.text("control/spin") == "off"
    assert [record.getMessage().startswith(f"In {folder.settings}: ") for record in caplog.records] == [True, True]


def test_unknown_keys_survive_a_change(folder: StateDirectory, context: Context, ledger: Ledger) -> None:
    folder.settings.write_text('{"format": 4, "future/thing": {"x": 1}}')
    SettingsStore(context, SettingsState.load(folder, SETTINGS_CATALOG), ledger).on_receive(SetSetting(RATE, 8000))

    assert stored(folder) == {"format": 4, "future/thing": {"x": 1}, RATE: 8000}


def test_new_subscriber_gets_the_changes_since_the_start(store: SettingsStore, context: Context) -> None:
    store.on_receive(SetSetting(RATE, 8000))
    store.on_receive(SetSetting(ARM_GATE, 0.5))
    store.on_receive(ResetSetting(RATE))
    new, other = follower(context, "device/049D"), follower(context, "pairing")
    store.on_receive(Announce("device/049D"))
    store.on_receive(Announce("pairing"))

    assert new == [SettingChanged(RATE, 4000), SettingChanged(ARM_GATE, 0.5)]
    assert other == []


def test_ledger_section_is_answered_once_on_disk(store: SettingsStore, ledger: Ledger, folder: StateDirectory) -> None:
    assert store.on_receive(SaveLedger("ports", {"ttyUSB0": {"blocked": True}})) is None
    assert ledger.section("ports") == {"ttyUSB0": {"blocked": True}}
    assert Ledger.load(folder).section("ports") == {"ttyUSB0": {"blocked": True}}


def test_unwritable_ledger_is_kept_in_memory_and_retried(
    store: SettingsStore, ledger: Ledger, folder: StateDirectory, clock: ManualClock, full_disk: FullDisk
) -> None:
    context = store.context
    told = follower(context, STORE)
    with full_disk():
        assert isinstance(store.on_receive(SaveLedger("stop", value=True)), StateNotWritable)
        assert isinstance(store.on_receive(SaveLedger("ports", [])), StateNotWritable)
        with pytest.raises(StateNotWritable):
            store.on_receive(ConfirmLedger())
    assert ledger.section("stop") is True
    assert Ledger.load(folder).section("stop") is None

    clock.advance(RETRY_S)
    assert context.timers.fire_due() == 1
    store.on_receive(told.pop())

    assert Ledger.load(folder).section("stop") is True
    assert Ledger.load(folder).section("ports") == ()
    store.on_receive(ConfirmLedger())
    clock.advance(RETRY_S)
    assert context.timers.fire_due() == 0


def test_invalid_section_is_answered_with_the_reason(
    store: SettingsStore, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(store.on_receive(SaveLedger("ports", {1, 2})), InvalidInput)
    assert isinstance(store.on_receive(SaveLedger("next_session_id", 1)), InvalidInput)
    assert ledger.section("ports") is None
    assert "was not remembered" in caplog.text


def test_stopping_store_retries_once(store: SettingsStore, folder: StateDirectory, full_disk: FullDisk) -> None:
    with full_disk():
        store.on_receive(SaveLedger("stop", value=True))
    store.stopped()

    assert Ledger.load(folder).section("stop") is True


def test_session_ids_are_reserved_at_start(store: SettingsStore, ledger: Ledger) -> None:
    store.started()

    assert ledger.session_ids.take() == 1
    assert ledger.session_ids.left == BLOCK - 1


def test_next_ids_are_reserved_when_few_are_left(store: SettingsStore, ledger: Ledger) -> None:
    store.started()
    store.on_receive(ReserveSessionIds())
    assert ledger.session_ids.end == BLOCK + 1
    while not ledger.session_ids.running_low:
        ledger.session_ids.take()
    store.on_receive(ReserveSessionIds())
    store.on_receive(ReserveSessionIds())

    assert ledger.session_ids.end == 2 * BLOCK + 1


def test_a_store_on_a_full_disk_starts_and_reserves_when_it_is_asked_again(
    store: SettingsStore, ledger: Ledger, full_disk: FullDisk, caplog: pytest.LogCaptureFixture
) -> None:
    with full_disk():
        store.started()
    assert ledger.session_ids.left == 0
    assert "No session ids could be reserved" in caplog.text

    store.on_receive(ReserveSessionIds())

    assert ledger.session_ids.take() == 1


def test_crashed_store_restarts_without_loss(
    context: Context, folder: StateDirectory, state: SettingsState, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness: Any = Witness()
    context.directory.register("witness", witness)
    given_up: list[str] = []
    supervisor = Supervisor(context, lambda name, _error: given_up.append(name))
    supervisor.add(STORE, lambda: SettingsStore.start(context, state, ledger))
    supervisor.start()
    try:
        ask_blocking(context.directory, STORE, SetSettings({RATE: 8000, PORT: 12000}))
        ask_blocking(context.directory, STORE, SaveLedger("stop", value=True))
        taken = [ledger.session_ids.take() for _ in range(3)]

        monkeypatch.setattr(Ledger, "remember", CrashOnce(Ledger.remember))
        context.directory.tell(STORE, SaveLedger("stop", None))
        assert witness.announced.wait(20)

        assert ask_blocking(context.directory, STORE, SetSetting(RATE, 9000)).value == 9000
        assert state.view.value.record(PORT).effective == 10001
        assert state.view.value.record(PORT).restart_required
        assert stored(folder) == {"format": 1, RATE: 9000, PORT: 12000}
        assert ledger.section("stop") is True
        assert [ledger.session_ids.take() for _ in range(3)] == [number + 3 for number in taken]
        assert given_up == []
    finally:
        supervisor.stop()


class Witness:
    """Hears of an actor that is new."""

    def __init__(self) -> None:
        self.announced = Event()

    def tell(self, message: Message) -> None:
        if message == Announce(STORE):
            self.announced.set()


class CrashOnce:
    """Raises the first time, then does what it stands for."""

    def __init__(self, real: Callable[..., None]) -> None:
        self.real = real
        self.calls = 0

    def __call__(self, *arguments: object) -> None:
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("a fault of the store")
        self.real(*arguments)
