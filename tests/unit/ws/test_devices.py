"""A session's devices at the edge: view, workspace, and the fields of a frame."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from actors.device.messages import DeviceRecord, Phase
from actors.device.params import device_params
from actors.session.messages import Damping, DeviceConfig, SessionConfig
from actors.values.spatial import Basis, PartialTransform, Transform
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import Command
from fastpath.text.encoder import FrameEncoder
from tests.support.actors.doubles import settings_view, simulated_records
from transport.session.device import SessionDevice

XZY = Basis.parse("XZ-Y")
# bits of a record's commands
FORCE = 1 << Command.COMMAND_FORCE
POSITION = 1 << Command.COMMAND_POSITION
SETTINGS = settings_view()


class SessionDeviceRig:
    """A device on a stepped loop, and one session's hold of it."""

    def __init__(self, word: str = "arm", workspace: Transform | None = None) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        (self.record,) = simulated_records(self.runtime, word)
        self.runtime.publish_device(self.record.lease, device_params(self.record, 0))
        self.session = self.runtime.lease_session("1")
        self.device = SessionDevice(self.runtime, self.session, self.record, workspace or Transform())

    def state(self) -> Any:
        """As the session's next frame shows it."""
        self.runtime.step()
        encoder = FrameEncoder(1, [("g", [self.device.entry()])], version=31)
        return json.loads(encoder.encode())["g"][0]["state"]

    def view(self, config: SessionConfig) -> bool:
        """Under the settings' defaults."""
        return self.device.view(config, SETTINGS)

    def config(self, **device: Any) -> SessionConfig:
        return SessionConfig(devices=MappingProxyType({self.record.device_id: DeviceConfig(**device)}))


@pytest.mark.parametrize(
    ("word", "moves", "wireless"),
    [
        ("arm", True, False),
        ("compact", True, False),
        ("grip", False, True),
        ("grip:wired", False, False),
        ("pen", False, False),
    ],
)
def test_session_devices_have_what_parser_and_frames_need(word: str, moves: bool, wireless: bool) -> None:
    rig = SessionDeviceRig(word)

    assert (rig.device.device_id, rig.device.kind, rig.device.has_motors) == (
        rig.record.device_id,
        rig.record.kind,
        moves,
    )
    entry = rig.device.entry()
    assert (entry.device_id, entry.wireless, entry.writer) == (rig.record.device_id, wireless, rig.device.writer)


@pytest.mark.parametrize("phase", Phase)
def test_only_a_ready_device_takes_commands(phase: Phase) -> None:
    rig = SessionDeviceRig()

    rig.device.update(replace(rig.record, phase=phase))

    assert rig.device.accepts == (phase is Phase.READY)


def test_following_changes_keeps_view_and_commands() -> None:
    rig = SessionDeviceRig()
    rig.view(rig.config(basis=XZY))
    rig.device.writer.position(1, 2, 3)

    rig.device.update(replace(rig.record, stopped=True))

    assert rig.device.writer.commands == POSITION
    assert rig.device.record.stopped
    assert rig.view(rig.config(basis=XZY)) is False


# ---------------------------------------------------------------- view


def test_view_change_is_applied_once() -> None:
    rig = SessionDeviceRig()

    assert rig.view(SessionConfig()) is True
    assert rig.view(SessionConfig()) is False
    assert rig.view(rig.config(basis=XZY)) is True
    assert rig.view(SessionConfig(basis=XZY)) is False
    assert rig.view(rig.config(preset="custom", mount=Transform((1, 2, 3)))) is True
    assert rig.view(rig.config(preset="arm_front", mount=Transform((1, 2, 3)))) is True
    assert rig.view(rig.config(preset="arm_front", mount=Transform((3, 2, 1)))) is False
    assert rig.view(rig.config(mount=Transform((3, 2, 1)))) is True


def test_new_view_releases_a_position_and_an_equal_one_does_not() -> None:
    rig = SessionDeviceRig()
    rig.view(SessionConfig())
    rig.device.writer.position(1, 2, 3)
    rig.device.writer.force(1, 2, 3)

    rig.view(SessionConfig())
    assert rig.device.writer.commands == POSITION | FORCE

    rig.view(SessionConfig(basis=XZY))
    assert rig.device.writer.commands == FORCE


def test_frame_is_in_the_session_s_space() -> None:
    rig = SessionDeviceRig()
    at = rig.state()["cursor_position"]

    rig.view(rig.config(basis=XZY, preset="custom", mount=Transform((1, 2, 3), scale=(2, 2, 2))))

    shown = rig.state()["cursor_position"]
    assert [shown[key] for key in "xyz"] == pytest.approx([1 + 2 * at["x"], 2 + 2 * at["z"], 3 - 2 * at["y"]], abs=1e-3)


def test_parser_gets_the_effective_preset_and_mount() -> None:
    rig = SessionDeviceRig()

    rig.view(rig.config(preset="arm_front_centered", basis=XZY))

    assert rig.device.preset == "arm_front_centered"
    assert rig.device.mount == Transform((0, -0.135, -0.120))
    rig.view(rig.config(preset="custom", mount=Transform((1, 2, 3))))
    assert (rig.device.preset, rig.device.mount) == ("custom", Transform((1, 2, 3)))


# ---------------------------------------------------------------- damping


def test_damping_change_applies_once_and_keeps_a_position() -> None:
    rig = SessionDeviceRig()
    rig.view(SessionConfig())
    rig.device.writer.position(1, 2, 3)

    assert rig.view(rig.config(damping=Damping(1, (0, 1, 2)))) is True
    assert rig.view(rig.config(damping=Damping(0, (1, 2, 3)))) is False
    assert rig.device.writer.commands == POSITION
    assert rig.view(SessionConfig()) is True


def test_damping_reaches_the_loop_and_ends_when_released() -> None:
    rig = SessionDeviceRig()
    rig.view(rig.config(damping=Damping(1, (0, 1, 2))))
    rig.device.writer.publish(refresh=False)
    # The start-up ramp is over and the hand draws its circle.
    rig.runtime.step(250)

    shown = rig.runtime.reader(rig.record.lease).snapshot()
    speeds = [float(speed) for speed in shown["velocity"]]
    assert max(map(abs, speeds)) > 1e-3
    assert shown["force"].tolist() == pytest.approx([-b * v for b, v in zip((1, 2, 3), speeds, strict=True)])

    rig.device.writer.revoke()
    rig.runtime.step()
    assert rig.runtime.reader(rig.record.lease).snapshot()["force"].tolist() == [0, 0, 0]


# ---------------------------------------------------------------- force gate


def test_gate_is_the_setting_s_until_the_session_has_its_own() -> None:
    rig = SessionDeviceRig()

    assert rig.view(SessionConfig()) is True
    assert rig.view(SessionConfig()) is False
    assert rig.view(rig.config(force_gate=1.0)) is True
    assert rig.device.view(rig.config(), settings_view({"devices/haptic*/filters/force_gate/gain": 1.0})) is False


# ---------------------------------------------------------------- workspace


def test_workspace_changes_part_by_part() -> None:
    rig = SessionDeviceRig()

    rig.device.place(PartialTransform((1, 2, 3)).over(rig.device.workspace))
    rig.device.place(PartialTransform(scale=(2, 2, 2)).over(rig.device.workspace))

    assert rig.device.workspace == Transform((1, 2, 3), scale=(2, 2, 2))
    assert list(rig.device.writer.workspace) == [(1, 2, 3), (1, 0, 0, 0), (2, 2, 2)]
    assert rig.state()["transform"] == {
        "position": {"x": 1, "y": 2, "z": 3},
        "scale": {"x": 2, "y": 2, "z": 2},
    }


def test_workspace_change_keeps_a_position() -> None:
    rig = SessionDeviceRig()
    rig.device.writer.position(1, 2, 3)

    rig.device.place(PartialTransform((1, 2, 3)).over(rig.device.workspace))

    assert rig.device.writer.commands == POSITION


def test_returning_device_gets_its_previous_workspace() -> None:
    workspace = Transform((1, 2, 3), (0, 1, 0, 0), (2, 2, 2))

    rig = SessionDeviceRig(workspace=workspace)

    assert rig.device.workspace == workspace
    assert list(rig.device.writer.workspace) == [(1, 2, 3), (0, 1, 0, 0), (2, 2, 2)]


def test_command_for_an_ended_lease_has_no_effect() -> None:
    rig = SessionDeviceRig()
    rig.runtime.release_device(rig.record.lease)
    rig.runtime.step(2)
    lease = rig.runtime.lease_device("another")
    record: DeviceRecord = replace(rig.record, lease=lease)
    rig.runtime.publish_device(lease, device_params(record, 0))
    rig.runtime.step(250)

    rig.device.writer.force(0, 0, 1)
    rig.device.writer.publish()
    rig.runtime.step(2)

    assert rig.runtime.reader(lease).snapshot()["force"].tolist() == [0, 0, 0]
