"""One device of one session at the edge: its reader and writer, the session's view and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.device.api import Phase
from actors.session.api import DEFAULT_PRESET, mount_of, preset_of
from actors.values.spatial import ORIGIN, Transform, Vec3
from fastpath.scene.values import NO_SCENE
from fastpath.text.encoder import FrameEntry
from transport.wire import frames

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord, DeviceWide
    from actors.session.api import SessionConfig
    from actors.settings.api import SettingsView
    from actors.values.identity import Kind
    from fastpath.arena.runtime import Lease, Runtime
    from fastpath.navigation.values import Bubble
    from fastpath.scene.values import Scene


NOT_READY: Final = "settling or calibrating: commands are taken once the device is ready"
ASLEEP: Final = "asleep: commands are taken once the device has been moved and is awake"


class SessionDevice:
    """One device of one session; it owns the workspace transform, the SessionActor the rest of the view."""

    def __init__(self, runtime: Runtime, session: Lease, record: DeviceRecord, workspace: Transform) -> None:
        self.writer = runtime.writer(session, record.lease)
        self.reader = runtime.reader(record.lease)
        self.workspace = workspace
        self._view: tuple[object, ...] = ()
        self._damping = ORIGIN
        self._gate = 0.0
        self._gain = 1.0
        self._bubble: Bubble | None = None
        self.scene = NO_SCENE  # the loop's
        self.scene_fault = ""  # why the session's is not the loop's
        self._entry: FrameEntry | None = None
        self.preset = DEFAULT_PRESET
        self.mount = Transform()
        self.update(record)
        self.place(workspace)

    def update(self, record: DeviceRecord) -> None:
        """Update from the device's inventory record."""
        self._entry = None
        self.record = record
        self.device_id: str = record.device_id
        self.kind: Kind = record.kind
        self.has_motors: bool = record.kind.has_motors
        self.has_cursor: bool = record.kind.has_cursor
        self.wide: DeviceWide = record.wide
        self.name: str = record.name
        self.paired_with: str | None = record.paired_with
        self.accepts: bool = record.phase is Phase.READY and not record.bond.run
        self.refusal: str = ASLEEP if record.phase is Phase.ASLEEP else NOT_READY

    def view(self, config: SessionConfig, settings: SettingsView) -> bool:
        """Write the view of `config`; a changed view releases held positions. Return whether anything changed."""
        self.preset = preset_of(config, self.record)
        basis, mount = config.basis_of(self.device_id), mount_of(config, self.record)
        damping = config.device(self.device_id).damping.per_axis
        shown = (basis, mount, self.preset)
        gate = frames.gate_of(self.record, config, settings) if self.has_motors else 0.0
        bubble = config.device(self.device_id).navigation.in_force if self.has_cursor else None
        new_view, new_damping, new_gate = shown != self._view, damping != self._damping, gate != self._gate
        new_bubble = bubble != self._bubble
        if new_view:
            self._view = shown
            self.mount = mount
            self.writer.set_basis(basis.axes, basis.signs)
            self.writer.set_mount(mount.position, mount.rotation, mount.scale)
        if new_damping:
            self._damping = damping
            self.writer.set_damping(*damping)
        if new_gate:
            self._gate = gate
            self.writer.set_gate(gate)
        if new_bubble:
            self._bubble = bubble
            self.writer.set_navigation(bubble, frames.home_of(self.record))
        new_scene = self._place_scene(frames.scene_of(self.record, config, settings))
        return new_view or new_damping or new_gate or new_bubble or new_scene

    def _place_scene(self, scene: Scene) -> bool:
        """Give the loop the scene if it is another one; one that has no place in the session's space leaves the last. Return whether it changed."""
        self.scene_fault = ""
        if scene == self.scene:
            return False
        try:
            self.writer.set_scene(scene)
        except ValueError as error:
            self.scene_fault = str(error)
            return False
        self.scene = scene
        return True

    def place(self, workspace: Transform) -> None:
        """Set the workspace transform; the loop gets it with the next publish."""
        self.workspace = workspace
        self.writer.set_workspace(workspace.position, workspace.rotation, workspace.scale)

    @property
    def travelled(self) -> Vec3:
        """Offset that navigation adds to every position: m, application space."""
        shown = self.reader.navigated(self.writer)
        return ORIGIN if shown is None else shown.offset

    def scale_output(self, gain: float) -> None:
        """Scale the session's output by `gain`, 0 to 1; held positions are released when it rises from 0."""
        if self._gain == 0:
            self.writer.release_positions()
        self._gain = gain
        self.writer.set_duck(gain)

    def entry(self) -> FrameEntry:
        """Return the device's entry for the frame encoder."""
        if self._entry is None:
            self._entry = frames.frame_entry(self.record, self.reader, self.writer)
        return self._entry
