"""DeviceActor as a plain object on a stepped loop: from connecting to ready, and after a crash."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from actors.device.actor import DeviceActor
from actors.device.events import disconnected_event
from actors.device.messages import (
    MANAGER,
    ConfigureDevice,
    DeviceChanged,
    DeviceLost,
    DeviceRecord,
    DeviceRested,
    DeviceSettled,
    DeviceSilent,
    DeviceWide,
    IdleSleepChanged,
    Inventory,
    Phase,
    SafetyState,
    SafetyTripped,
    SimulationChanged,
    actor_name,
)
from actors.device.params import status_flags
from actors.event.messages import HUB, Emit
from actors.kit.errors import FirmwareTooOld, NoSuchDevice
from actors.kit.message import Announce
from actors.kit.published import Published
from actors.port.messages import HomedChanged
from actors.settings.messages import SettingChanged
from actors.values.hardware import FoundDevice
from actors.values.identity import Connection, Firmware, Kind
from actors.values.simulation import Simulation
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view, simulated_records

SETTLE = {"simulation/settle_time": 0.25}


class DeviceActorRig(ActorRig):
    """One device's actor without a thread, and those whom it tells."""

    def __init__(self, word: str = "arm", phase: Phase = Phase.CONNECTING, *, simulated: bool = True) -> None:
        super().__init__(SETTLE)
        self.runtime = Runtime(stepping=True, realtime=False)
        (record,) = simulated_records(self.runtime, word, phase=phase)
        self.record: DeviceRecord = replace(record, identity=replace(record.identity, simulated=simulated))
        self.inventory.replace(Inventory((self.record,)))
        self.manager = FakeActor(self.context, MANAGER)
        self.myself = FakeActor(self.context, actor_name(self.record.device_id))
        self.actor = self.again()

    def again(self) -> DeviceActor:
        """Another actor for the same device, as after a crash."""
        self.settings.replace(settings_view(SETTLE))
        return DeviceActor(self.context, self.runtime, self.inventory, self.settings, self.record.device_id)

    @property
    def phases(self) -> list[Phase]:
        return [change.phase for change in self.manager.of(DeviceChanged)]

    @property
    def events(self) -> list[str]:
        return [emit.kind for emit in self.emitted]

    def change(self, wide: DeviceWide) -> DeviceChanged:
        """What the actor tells of a ready device with this configuration."""
        return DeviceChanged(self.record.device_id, Phase.READY, wide, self.record.lease.generation)

    def flags(self) -> int:
        """What the loop shows."""
        self.runtime.step()
        return int(self.runtime.reader(self.record.lease).snapshot()["flags"])

    def pass_on(self) -> None:
        """Do as the manager does with what it is told."""
        for change in self.manager.of(DeviceChanged):
            self.inventory.replace(Inventory((replace(self.record, phase=change.phase, wide=change.wide),)))

    def settle(self, seconds: float) -> bool:
        """Whether the settle window is over by then."""
        self.wait(seconds)
        return bool(self.myself.of(DeviceSettled))


def test_actor_name_has_the_device_id() -> None:
    rig = DeviceActorRig()

    assert rig.actor.name == f"device/{rig.record.device_id}"


def test_missing_device_has_no_actor() -> None:
    rig = DeviceActorRig()
    rig.inventory.replace(Inventory())

    with pytest.raises(NoSuchDevice):
        rig.again()


def test_device_removed_before_its_actor_starts_is_never_published() -> None:
    rig = DeviceActorRig()
    rig.inventory.replace(Inventory())

    rig.actor.started()

    assert rig.manager.told == []


def test_a_new_device_settles() -> None:
    rig = DeviceActorRig()

    rig.actor.started()

    assert rig.phases == [Phase.SETTLING]
    assert not rig.flags() & StatusFlag.FLAG_READY


def test_a_settling_device_is_ready_when_its_time_is_over() -> None:
    rig = DeviceActorRig()
    rig.actor.started()

    assert not rig.settle(0.249)
    assert rig.settle(0.001)
    rig.actor.on_settled(DeviceSettled())

    assert rig.phases == [Phase.SETTLING, Phase.READY]
    assert rig.flags() == status_flags(replace(rig.record, phase=Phase.READY)) | StatusFlag.FLAG_MEASURED


def real_arm(settle_s: float = 5.0) -> DeviceActorRig:
    """A started actor of a real arm whose link has not said yet whether it knows where it is."""
    rig = DeviceActorRig(simulated=False)
    found = FoundDevice("A1", Kind.ARM, Connection.SERIAL, Firmware(7, 5), 1, "0", "openlink", settle_s=settle_s)
    (record,) = rig.inventory.value.devices
    rig.inventory.replace(Inventory((replace(record, identity=replace(record.identity, found=found)),)))
    rig.actor = rig.again()
    rig.actor.started()
    return rig


def homed(rig: DeviceActorRig, *, now: bool) -> None:
    rig.actor.on_homed(HomedChanged(rig.record.lease.generation, now))


def passes(rig: DeviceActorRig, seconds: float) -> Phase:
    """The phase after so long."""
    rig.clock.advance(seconds)
    rig.myself.told.clear()
    rig.context.timers.fire_due()
    for message in rig.myself.of(DeviceSettled):
        rig.actor.on_settled(message)
    return rig.phases[-1]


def test_reported_settling_is_timed_once() -> None:
    rig = real_arm()
    homed(rig, now=False)
    assert passes(rig, 4.98) is Phase.SETTLING

    homed(rig, now=True)
    assert passes(rig, 0.01) is Phase.SETTLING
    assert passes(rig, 0.01) is Phase.READY


def test_settled_report_before_the_minimum_time_waits() -> None:
    rig = real_arm()
    homed(rig, now=True)

    assert passes(rig, 4.99) is Phase.SETTLING
    assert passes(rig, 0.01) is Phase.READY


def test_device_homed_after_its_time_is_ready_shortly_after() -> None:
    rig = real_arm()
    homed(rig, now=False)
    assert passes(rig, 60) is Phase.SETTLING

    homed(rig, now=True)
    assert passes(rig, 0.19) is Phase.SETTLING
    assert passes(rig, 0.01) is Phase.READY


def test_lost_homing_returns_to_settling() -> None:
    rig = real_arm()
    homed(rig, now=True)
    assert passes(rig, 5) is Phase.READY

    homed(rig, now=False)
    homed(rig, now=True)
    assert passes(rig, 4.99) is Phase.SETTLING
    assert passes(rig, 0.01) is Phase.READY


def test_zero_settle_time_still_waits_for_homing() -> None:
    rig = real_arm(settle_s=0)
    assert passes(rig, 1) is Phase.SETTLING

    homed(rig, now=False)
    assert passes(rig, 1) is Phase.SETTLING

    homed(rig, now=True)
    assert passes(rig, 0) is Phase.READY


def test_handle_of_a_link_is_ready_with_its_first_facts() -> None:
    rig = real_arm(settle_s=0)
    assert passes(rig, 1) is Phase.SETTLING

    homed(rig, now=True)
    assert rig.phases[-1] is Phase.READY


def test_a_real_device_settles_for_five_seconds() -> None:
    rig = DeviceActorRig(simulated=False)
    rig.actor.started()

    assert not rig.settle(4.999)
    assert rig.settle(0.001)


@pytest.mark.parametrize("word", ["grip", "grip:wired", "pen"])
def test_a_device_that_needs_no_settling_is_ready_at_once(word: str) -> None:
    rig = DeviceActorRig(word)

    rig.actor.started()

    assert rig.settle(0)


def test_a_force_on_a_settling_device_is_zero_and_counts_once_it_is_ready() -> None:
    rig = DeviceActorRig()
    rig.actor.started()
    writer = rig.runtime.writer(rig.runtime.lease_session("1"), rig.record.lease)
    reader = rig.runtime.reader(rig.record.lease)

    def applied() -> float:
        writer.begin()
        writer.force(0, 0, 1)
        writer.publish()
        rig.runtime.step(400)
        return float(reader.snapshot()["force"][2])

    assert [applied() for _ in range(3)] == [0, 0, 0]

    rig.actor.on_settled(DeviceSettled())
    rig.runtime.step(100)
    writer.publish()
    rig.runtime.step(20)
    assert float(reader.snapshot()["force"][2]) == pytest.approx(1)


@pytest.mark.parametrize("phase", [Phase.READY, Phase.ASLEEP])
def test_restarted_actor_resumes_the_device(phase: Phase) -> None:
    rig = DeviceActorRig(phase=phase)

    rig.again().started()

    assert (rig.phases, rig.events) == ([], [])
    assert not rig.settle(60)
    assert rig.flags() == status_flags(replace(rig.record, phase=phase)) | StatusFlag.FLAG_MEASURED


def test_actor_crash_during_settling_restarts_settling() -> None:
    rig = DeviceActorRig()
    rig.actor.started()
    rig.pass_on()

    second = rig.again()
    second.started()

    assert rig.phases == [Phase.SETTLING, Phase.SETTLING]
    assert rig.events == []
    assert not rig.settle(0.2)
    assert rig.settle(0.05)
    assert len(rig.myself.of(DeviceSettled)) == 1


def test_settle_timer_after_ready_changes_nothing() -> None:
    rig = DeviceActorRig(phase=Phase.ASLEEP)
    rig.actor.started()

    rig.actor.on_settled(DeviceSettled())

    assert rig.phases == []


def test_device_wide_configuration_survives_an_actor_restart() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    wide = DeviceWide(gravity_scale=0.25)
    rig.inventory.replace(Inventory((replace(rig.record, wide=wide),)))

    again = rig.again()
    again.started()
    again.on_announce(Announce(MANAGER))

    assert rig.manager.of(DeviceChanged) == [rig.change(wide)]


def test_restarted_manager_is_sent_the_phase() -> None:
    rig = DeviceActorRig()
    rig.actor.started()
    rig.actor.on_settled(DeviceSettled())

    rig.actor.on_announce(Announce(MANAGER))

    assert rig.phases == [Phase.SETTLING, Phase.READY, Phase.READY]


@pytest.mark.parametrize("name", [HUB, "device/other", "settings"])
def test_other_restarted_actors_are_sent_nothing(name: str) -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()

    rig.actor.on_announce(Announce(name))

    assert rig.manager.told == []


def test_lost_device_reports_the_reason() -> None:
    emit = disconnected_event(DeviceActorRig("pen").record, "its cable was pulled")

    assert emit.kind == "device-disconnected"
    assert emit.data["device_family"] == "pen"
    assert emit.message.endswith("on sim0 is gone: its cable was pulled")


# ---------------------------------------------------------------- what a device has for all sessions


def test_change_reaches_the_loop_and_is_sent_once() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()
    wide = DeviceWide(handedness="left", gravity_scale=0.5)

    for _ in range(2):
        assert rig.actor.configure(ConfigureDevice(handedness="left", gravity_scale=0.5)) == wide
    assert rig.actor.configure(ConfigureDevice()) == wide

    assert rig.manager.of(DeviceChanged) == [rig.change(wide)]


def test_too_old_firmware_raises_an_event_and_changes_nothing() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    old = replace(rig.record, identity=replace(rig.record.identity, firmware=Firmware(7, 3)))
    rig.inventory.replace(Inventory((old,)))
    rig.actor.started()

    with pytest.raises(FirmwareTooOld):
        rig.actor.configure(ConfigureDevice(home_return=True))

    (emit,) = rig.hub.of(Emit)
    assert emit.kind == "device-protocol-unsupported"
    assert (emit.data["feature"], emit.data["firmware"], emit.data["required"]) == ("home_return", "7.3", "7.4")
    assert rig.manager.told == []


@pytest.mark.parametrize(
    ("key", "scale"),
    [
        ("devices/haptic*/filters/force_scale/gain", 0.5),
        ("devices/arm/filters/force_scale/gain", 0.5),
        ("devices/compact/filters/force_scale/gain", 1),
    ],
)
def test_the_force_scale_acts_at_once(key: str, scale: float) -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    settings = Published(settings_view())
    actor = DeviceActor(rig.context, rig.runtime, rig.inventory, settings, rig.record.device_id)
    actor.started()
    writer = rig.runtime.writer(rig.runtime.lease_session("1"), rig.record.lease)
    reader = rig.runtime.reader(rig.record.lease)

    def applied() -> float:
        for _ in range(40):
            writer.begin()
            writer.force(0, 0, 1)
            writer.publish()
            rig.runtime.step(20)
        return float(reader.snapshot()["force"][2])

    assert applied() == pytest.approx(1)
    settings.replace(settings_view({key: 0.5}))
    actor.on_setting(SettingChanged("control/frequency", 1000.0))
    assert applied() == pytest.approx(1)
    actor.on_setting(SettingChanged(key, 0.5))
    assert applied() == pytest.approx(scale)


# ---------------------------------------------------------------- asleep, awake, silent


def slept(rig: DeviceActorRig) -> list[bool]:
    """What was told of falling asleep and waking up."""
    return [emit.data["awake"] for emit in rig.hub.of(Emit) if emit.kind == "device-sleep"]


def test_sleep_and_wake_up_raise_one_event_each() -> None:
    rig = DeviceActorRig("grip", Phase.READY)
    rig.actor.started()

    for awake in (False, False, None, True, True):
        rig.actor.on_simulation(SimulationChanged(awake))

    assert slept(rig) == [False, True]
    assert rig.phases == [Phase.ASLEEP, Phase.READY]


def test_settling_device_does_not_sleep() -> None:
    rig = DeviceActorRig()
    rig.actor.started()

    rig.actor.on_simulation(SimulationChanged(awake=False))

    assert (slept(rig), rig.phases) == ([], [Phase.SETTLING])


@pytest.mark.parametrize(("word", "sleeps"), [("grip", True), ("pen", True), ("arm", False)])
def test_resting_handle_sleeps(word: str, sleeps: bool) -> None:
    rig = DeviceActorRig(word, Phase.READY)
    rig.actor.started()

    rig.actor.on_rested(DeviceRested(rig.record.lease.generation + 1))
    assert slept(rig) == []
    rig.actor.on_rested(DeviceRested(rig.record.lease.generation))

    assert slept(rig) == ([False] if sleeps else [])


def test_silent_device_is_reported_stale_then_lost() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()
    generation = rig.record.lease.generation

    rig.actor.on_silent(DeviceSilent(generation + 1, gone=True, silent_ns=500_000_000))
    rig.actor.on_silent(DeviceSilent(generation, gone=False, silent_ns=23_456_000))
    assert [(emit.data["safety_type"], emit.data["silent_ms"]) for emit in rig.hub.of(Emit)] == [("device_stale", 23.5)]
    assert rig.manager.of(DeviceLost) == []

    rig.actor.on_silent(DeviceSilent(generation, gone=True, silent_ns=503_200_000))
    (lost,) = rig.manager.of(DeviceLost)
    assert (lost.device_id, lost.generation) == (rig.record.device_id, generation)
    assert lost.why == "it sent nothing for 503.2 ms"


def test_monitor_events_are_of_the_current_connection_only() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()
    generation = rig.record.lease.generation

    rig.actor.on_tripped(SafetyTripped(generation + 1, SafetyState(), SafetyState(stalls=1)))
    assert rig.hub.of(Emit) == []
    rig.actor.on_tripped(SafetyTripped(generation, SafetyState(), SafetyState(ebrakes=1)))

    assert [emit.data["safety_type"] for emit in rig.hub.of(Emit)] == ["ebrake_triggered"]


def test_dozing_device_raises_an_event_and_accepts_commands() -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()
    generation = rig.record.lease.generation

    rig.actor.on_idle_sleep(IdleSleepChanged(generation + 1, awake=False))
    rig.actor.on_idle_sleep(IdleSleepChanged(generation, awake=False))
    rig.actor.on_idle_sleep(IdleSleepChanged(generation, awake=True))

    assert slept(rig) == [False, True]
    assert rig.phases == []
    assert rig.flags() & StatusFlag.FLAG_READY


@pytest.mark.parametrize("feature", ["safe_trajectory", "grip_hook"])
def test_feature_setting_applies_at_once(feature: str) -> None:
    rig = DeviceActorRig(phase=Phase.READY)
    rig.actor.started()
    published: list[Any] = []

    def publish(_lease: object, params: Any) -> None:
        published.append(params)

    rig.actor._runtime = cast("Runtime", SimpleNamespace(publish_device=publish))

    rig.settings.replace(settings_view({f"features/{feature}/enabled": True}))
    rig.actor.on_setting(SettingChanged(f"features/{feature}/enabled", value=True))
    rig.actor.on_setting(SettingChanged("features/clutch/enabled", value=True))

    (params,) = published
    limits = (float(params["safe_speed"]), float(params["grip_timeout"]))
    assert limits == ((0.5, 0.0) if feature == "safe_trajectory" else (0.0, 0.1))


def test_simulation_change_reaches_the_loop() -> None:
    rig = DeviceActorRig("grip", Phase.READY)
    rig.actor.started()
    rig.inventory.replace(Inventory((replace(rig.record, simulation=Simulation(buttons=5)),)))

    rig.actor.on_simulation(SimulationChanged())

    rig.runtime.step()
    assert int(rig.runtime.reader(rig.record.lease).snapshot()["buttons"]) == 5
