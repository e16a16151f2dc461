"""All devices of one session at the edge: its views, its commands, its frames. Main thread only; nothing here waits."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from actors.session.api import FREEFORM, SCENES_ENABLED, is_freeform, without_scenes
from actors.values.spatial import Transform
from transport.session.device import SessionDevice
from transport.session.modules import SessionModules
from transport.session.stream_plan import plan_of
from transport.session.unplaced_scenes import unplaced_scenes
from transport.wire import commands, frames
from transport.wire.device_texts import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from actors.session.api import SessionConfig
    from fastpath.arena.runtime import Lease
    from fastpath.stream.streaming import StreamSession
    from fastpath.text.encoder import FrameEncoder, FrameEntry
    from transport.session.edge_state import EdgeState
    from transport.session.events import SessionEvents
    from transport.session.unplaced_scenes import UnplacedScene
    from transport.wire.parsed_message import DeviceCommand, ParsedMessage
    from transport.wire.vocabulary import Vocabulary

NS_PER_S: Final = 1_000_000_000


class SessionDevices:
    """Devices of one session, updated from inventory and settings; `config` is the SessionActor's newest."""

    def __init__(
        self,
        edge: EdgeState,
        events: SessionEvents,
        session_id: int,
        lease: Lease,
        config: SessionConfig,
        vocabularies: tuple[Vocabulary, ...],
        version: str,
        stream: StreamSession | None = None,
        awaited: int = 0,
    ) -> None:
        """`vocabularies`: those whose groups a frame has, in order; `stream` and `awaited`: the session's place at the streaming thread, and the words (bits of OWNERS) left to the event loop."""
        self._edge = edge
        self._stream = stream
        self._lock: AbstractContextManager[None] = nullcontext() if stream is None else stream
        self._awaited = awaited
        self._stream_version = 0
        self._events = events
        self._session_id = session_id
        self._lease = lease
        self._config = config
        self._vocabularies = vocabularies
        self._version = version
        self._workspaces = {device_id: device.workspace for device_id, device in config.devices.items()}
        self._built_for = (-1, -1, 0)
        self.timeout_ns = 0
        self._gain = 1.0
        self._released = False
        self.modules = SessionModules(edge, session_id, lambda: self.by_id)
        self.by_id: dict[str, SessionDevice] = {}
        self._encoder: FrameEncoder = frames.encoder(session_id, [], version, edge.settings)

    def update(self) -> None:
        """Update devices, settings, frame encoder and modules if inventory or settings changed."""
        system = self._edge.system
        # Before the snapshots are read: a change after this makes the plan stale.
        stream_version = 0 if self._stream is None else self._stream.version
        # A replacement is shown before it is told here: the plan of that moment is stale, and is made again.
        now = (system.inventory.version, system.settings.version, stream_version)
        if now == self._built_for:
            return
        self._stream_version = stream_version
        self._built_for = now
        with self._lock:
            self._rebuild()
        if not self._released:
            self.modules.update(self._edge.settings)
            self._store_workspaces()
        self._plan()

    def _rebuild(self) -> None:
        system = self._edge.system
        self._set_config(self._config)
        before, self.by_id = self.by_id, {}
        for record in self._edge.inventory.devices:
            device = before.get(record.device_id)
            if device is None or device.record.lease != record.lease:
                workspace = self._workspaces.get(record.device_id, Transform())
                device = SessionDevice(system.runtime, self._lease, record, workspace)
                device.scale_output(self._gain)
            device.update(record)
            if device.view(self._config, self._edge.settings):
                device.writer.publish(refresh=False)
            self.by_id[record.device_id] = device
        for device_id, device in before.items():
            if self.by_id.get(device_id) is not device:
                device.writer.revoke()
        settings = self._edge.settings
        self.timeout_ns = int(settings.number("sessions/command_timeout") * NS_PER_S)
        self._build_encoder()

    def use_vocabularies(self, vocabularies: tuple[Vocabulary, ...], awaited: int) -> None:
        """Show the groups of `vocabularies` from now on; words in `awaited` (bits of OWNERS) are left to the event loop."""
        self._vocabularies = vocabularies
        self._awaited = awaited
        with self._lock:
            self._build_encoder()
        self._plan()

    def configured(self, config: SessionConfig) -> tuple[UnplacedScene, ...]:
        """Apply a configuration from the SessionActor and publish the changed views. Return the scenes that have no place."""
        if self._released:
            return ()
        self._set_config(config)
        self.update()
        with self._lock:
            for device in self.by_id.values():
                if device.view(self._config, self._edge.settings):
                    device.writer.publish(refresh=False)
        return unplaced_scenes(self.by_id.values())

    def place_workspace(self, device_id: str, workspace: Transform) -> None:
        """Replace the workspace transform of one device; a held position follows it."""
        device = self.by_id[device_id]
        with self._lock:
            device.place(workspace)
            device.writer.publish(refresh=False)
        self._workspaces[device_id] = workspace

    def release(self) -> None:
        """Revoke all writers and close the modules: zero force at the next tick."""
        with self._lock:
            for device in self.by_id.values():
                device.writer.revoke()
        if not self._released:
            self._released = True
            self.modules.close()

    def scale_output(self, gain: float) -> None:
        """Scale the session's output by `gain`, 0 to 1; at 0 held positions are released."""
        if gain == self._gain or self._released:
            return
        self._gain = gain
        with self._lock:
            for device in self.by_id.values():
                device.scale_output(gain)
                device.writer.publish(refresh=False)
        if gain == 0:
            self._edge.holders.forget(self._session_id)

    def apply(self, parsed: ParsedMessage) -> tuple[str, ...]:
        """Apply workspace changes, then commands, also those of modules; without a commands map held ones stay. Return the devices whose workspace moved."""
        with self._lock:
            return self._apply(parsed)

    def _apply(self, parsed: ParsedMessage) -> tuple[str, ...]:
        moved: dict[str, None] = {}
        if parsed.module_changes:
            for device_id in self.modules.take(parsed, configuring=True):
                self.by_id[device_id].writer.publish(refresh=False)
            moved |= self._store_workspaces()
        for device_id, change in parsed.workspaces:
            device = self.by_id[device_id]
            before = device.workspace
            device.place(change.over(before, device.travelled))
            self._workspaces[device_id] = device.workspace
            if device.workspace != before:
                moved[device_id] = None
            if not parsed.mapped:
                device.writer.publish(refresh=False)
        if parsed.mapped:
            self._command(parsed)
        if parsed.module_changes:
            moved |= self._store_workspaces()
        return tuple(moved)

    def drop_absent(self, parsed: ParsedMessage) -> None:
        """Turn the parts for devices that left meanwhile into faults."""
        for command in parsed.commands:
            if command[0] not in self.by_id:
                parsed.fault(command[5], f'device "{command[0]}" has gone')
        for device_id, _ in parsed.workspaces:
            if device_id not in self.by_id:
                parsed.fault("", f'device "{device_id}" has gone')
        parsed.commands = [command for command in parsed.commands if command[0] in self.by_id]
        parsed.workspaces = [one for one in parsed.workspaces if one[0] in self.by_id]

    def frame(self, parsed: ParsedMessage) -> bytes:
        """Return the frame that answers a message."""
        self.update()
        configs = None if parsed.full is None else self._configs(parsed.full)
        states = self.modules.states() if self.modules.shown else None
        with self._lock:
            return self._encoder.encode(configs, parsed.faults or None, states)

    def devices_json(self, vocabulary: Vocabulary, version: str, more: Mapping[str, bytes] = NOTHING) -> bytes:
        """Return the groups of a full frame in this session's application space; `more` as in `DeviceTexts.devices_json`."""
        self.update()
        settings = self._edge.settings
        records = [device.record for device in self.by_id.values()]
        configs = self._edge.device_texts.configs(records, self._config, vocabulary, settings, version, more)
        states = self.modules.states()
        with self._lock:
            return frames.encoder(None, self._groups(vocabulary), version, settings).encode(configs, None, states)

    def _build_encoder(self) -> None:
        groups: dict[str, list[FrameEntry]] = {}
        for vocabulary in self._vocabularies:
            groups |= {name: shown for name, shown in self._groups(vocabulary) if name not in groups}
        if self._stream is not None:
            # The plan in use belongs to the encoder that goes.
            self._stream.use(None)
        self._encoder = frames.encoder(self._session_id, list(groups.items()), self._version, self._edge.settings)

    def _plan(self) -> None:
        """Tell the streaming thread what it may answer by itself: nothing for a closed session or one with modules."""
        if self._stream is not None:
            self._stream.use(
                None
                if self._released or self.modules.active.modules
                else plan_of(
                    self._edge.system.runtime,
                    self._encoder,
                    self.by_id.values(),
                    awaited=self._awaited,
                    timeout_ns=self.timeout_ns,
                    version=self._stream_version,
                )
            )

    def _set_config(self, config: SessionConfig) -> None:
        """Store `config`, with `freeform` and without scenes as the present settings say."""
        freeform = is_freeform(config.profile, self._edge.settings.texts(FREEFORM))
        if not self._edge.settings.flag(SCENES_ENABLED):
            config = without_scenes(config)
        self._config = config if freeform == config.freeform else replace(config, freeform=freeform)

    def _store_workspaces(self) -> dict[str, None]:
        """Store the workspaces that modules replaced. Return their devices."""
        moved: dict[str, None] = {}
        for device in self.by_id.values():
            if device.workspace != self._workspaces.setdefault(device.device_id, Transform()):
                self._workspaces[device.device_id] = device.workspace
                moved[device.device_id] = None
        return moved

    def _command(self, parsed: ParsedMessage) -> None:
        now_ns = self._edge.system.runtime.now_ns()
        touched = {device_id for device_id, _ in parsed.workspaces}
        for device in self.by_id.values():
            if device.writer.commands:
                touched.add(device.device_id)
                device.writer.begin()
        for command in parsed.commands:
            touched.add(command[0])
            self._apply_command(parsed, command, now_ns)
        if parsed.module_changes:
            touched |= self.modules.take(parsed, configuring=False)
        for device_id in touched:
            self.by_id[device_id].writer.publish()

    def _apply_command(self, parsed: ParsedMessage, command: DeviceCommand, now_ns: int) -> None:
        device_id, code, x, y, z, path = command
        device = self.by_id[device_id]
        writer = device.writer
        row = commands.BY_CODE[code]
        holder = None
        if row.exclusive and self._gain > 0:
            holder = self._edge.holders.claim(device_id, self._session_id, writer, now_ns, self.timeout_ns, self._lock)
        if row.needs_clutch and writer.clutch == 0:
            parsed.fault(path, "the clutch is frozen, so no position can be reached: set its ratio above 0")
        elif holder is not None:
            parsed.fault(path, f"session {holder} holds the position of {device_id}")
            self._events.busy(device.record, holder)
        else:
            writer.set_point(code, x, y, z)

    def _groups(self, vocabulary: Vocabulary) -> frames.Groups:
        records = (device.record for device in self.by_id.values())
        return frames.grouped(records, vocabulary, lambda record: self.by_id[record.device_id].entry())

    def _configs(self, groups: frozenset[str]) -> dict[tuple[str, str], bytes]:
        """Return the texts of `config` of the devices in these groups of the first vocabulary, for each vocabulary shown."""
        first = self._vocabularies[0]
        records = [
            device.record
            for device in self.by_id.values()
            if first.group(device.kind, device.record.identity.connection) in groups
        ]
        texts, settings = self._edge.device_texts, self._edge.settings
        configs: dict[tuple[str, str], bytes] = {}
        for vocabulary in reversed(self._vocabularies):
            configs |= texts.configs(records, self._config, vocabulary, settings, self._version)
        return configs
