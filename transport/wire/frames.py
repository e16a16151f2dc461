"""Build the input of the frame encoder: device groups in a vocabulary's order, and each device's `config` text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from actors.session.api import SCENES_ENABLED, Damping, mount_of, preset_of
from actors.values.coefficients import kept
from actors.values.identity import Connection, Kind
from actors.values.kinds.base import MOVER_DEVICE_AREAS, MOVER_SESSION_AREAS, FrameShape
from actors.values.spatial import NO_ROTATION, ONES, ORIGIN, Transform, Vec3
from fastpath.arena.runtime import Lease
from fastpath.layout.constants import StateShape
from fastpath.scene.values import NO_SCENE, Scene
from fastpath.text.encoder import FrameEncoder, FrameEntry, StateFields
from transport.wire import navigation, scene
from transport.wire.vocabulary import Vocabulary

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from actors.session.api import SessionConfig
    from actors.settings.api import SettingsView
    from fastpath.arena.access import Reader, Writer
    from fastpath.arena.runtime import Runtime

Groups: TypeAlias = "list[tuple[str, list[FrameEntry]]]"

SHAPES: Final = MappingProxyType(
    {
        FrameShape.CURSOR: StateShape.SHAPE_CURSOR,
        FrameShape.HANDLE: StateShape.SHAPE_HANDLE,
        FrameShape.FIELDS: StateShape.SHAPE_FIELDS,
    }
)
# The state of kinds that have fields of their own.
FIELDS: Final = MappingProxyType(
    {
        kind: StateFields(
            [(one.name, one.source, one.labels, one.per_unit) for one in kind.spec.frame_fields],
            motors=kind.has_motors,
        )
        for kind in Kind
        if kind.spec.frame_shape is FrameShape.FIELDS
    }
)
# Members of `config` that only some kinds with motors have.
AREAS: Final = MOVER_SESSION_AREAS | MOVER_DEVICE_AREAS
DEVICE_TYPES: Final = {kind: kind.spec.device_type for kind in Kind if kind.spec.device_type is not None}
NOBODY: Final = Lease(-1, 0, "")
FORCE_GATE = "filters/force_gate/gain"


def grouped(
    records: Iterable[DeviceRecord], vocabulary: Vocabulary, entry: Callable[[DeviceRecord], FrameEntry]
) -> Groups:
    """Return every group of the vocabulary with its entries, in the inventory's order."""
    groups: dict[str, list[FrameEntry]] = {name: [] for name in vocabulary.groups()}
    for record in records:
        groups[vocabulary.group(record.kind, record.identity.connection)].append(entry(record))
    return list(groups.items())


def encoder(session_id: int | None, groups: Groups, version: str, settings: SettingsView) -> FrameEncoder:
    """Return the frame encoder of one connection for the settings now in force."""
    return FrameEncoder(
        session_id,
        groups,
        version=30 if version == "3.0" else 31,
        explicit_fields=settings.flag("serialization/explicit_fields"),
        complete_transforms=settings.flag("serialization/force_complete_transforms"),
        status_safety=settings.flag("serialization/status_safety"),
        timestamps=settings.flag("serialization/timestamps"),
    )


def devices_encoder(
    records: Iterable[DeviceRecord],
    runtime: Runtime,
    vocabulary: Vocabulary,
    settings: SettingsView,
    version: str = "3.1",
    start: SessionConfig | None = None,
) -> FrameEncoder:
    """Return the encoder of the groups of a full frame: in device space, or as a session that starts with `start` sees them."""

    def entry(record: DeviceRecord) -> FrameEntry:
        reader = runtime.reader(record.lease)
        view = None if start is None else _start_view(runtime, record, start)
        return frame_entry(record, reader, view)

    return encoder(None, grouped(records, vocabulary, entry), version, settings)


def frame_entry(record: DeviceRecord, reader: Reader, writer: Writer | None) -> FrameEntry:
    """Return the encoder's entry of a device; without a writer, in device space."""
    return FrameEntry(
        record.device_id,
        SHAPES[record.kind.spec.frame_shape],
        reader,
        writer,
        wireless=is_wireless(record),
        ready=record.ready,
        fields=FIELDS.get(record.kind),
    )


def is_wireless(record: DeviceRecord) -> bool:
    """Whether the device has a battery."""
    return record.identity.connection is Connection.WIRELESS


def config_of(
    record: DeviceRecord, config: SessionConfig, vocabulary: Vocabulary, settings: SettingsView, version: str
) -> dict[str, Any]:
    """Return the `config` of a device, which a client may send back as `configure`."""
    identity = record.identity
    head: dict[str, Any] = {
        "type": vocabulary.type_word(identity.kind, identity.connection),
        "connection": str(identity.connection),
        "port": identity.port,
        **({"name": record.name} if record.name else {}),
    }
    basis = {"permutation": str(config.basis_of(identity.device_id))}
    if not identity.kind.has_motors:
        head |= {
            "major_version": identity.firmware.major,
            "minor_version": identity.firmware.minor,
            "hardware_version": identity.hardware_version,
            "basis": basis,
            "paired_with": record.paired_with,
        }
        return head
    wide, device = record.wide, config.device(identity.device_id)
    filters: dict[str, Any] = {
        "force_gate": {"gain": kept(gate_of(record, config, settings))},
        "damping": damping_json(device.damping, complete=settings.flag("serialization/explicit_fields")),
    }
    body: dict[str, Any] = {
        **head,
        "device_info": _device_info(record, version),
        "extended_device_id": identity.uuid,
        "extended_firmware_version": _extended_firmware(record),
        "handedness": wide.handedness,
        "streaming_mode": "USB",
        "gravity_compensation": {"enabled": wide.gravity_compensation, "scaling_factor": kept(wide.gravity_scale)},
        "torque_scaling": {"enabled": wide.torque_scaling},
        "home_return": {"enabled": wide.home_return},
        "preset": vocabulary.preset_out(preset_of(config, record)),
        "basis": basis,
        "mount": transform_json(mount_of(config, record), complete=_complete(settings)),
    }
    body |= {"filters": filters} if vocabulary.nests_filters else filters
    if device.navigation.in_force is not None:
        body["navigation"] = navigation.shown(device.navigation)
    if fields := scene_of(record, config, settings):
        body["scene"] = scene.shown(fields)
    body["paired_with"] = record.paired_with
    spec = identity.kind.spec
    return {key: value for key, value in body.items() if key not in AREAS or spec.has(key)}


def home_of(record: DeviceRecord) -> Vec3:
    """Return the reach centre of a device with motors (m, device frame)."""
    reach = record.identity.reach
    return ORIGIN if reach is None else reach.centre


def gate_of(record: DeviceRecord, config: SessionConfig, settings: SettingsView) -> float:
    """Return the gain of the force gate: the session's own, else that of the most specific setting."""
    own = config.device(record.device_id).force_gate
    gain = settings.device(record.device_id, record.kind, FORCE_GATE) if own is None else own
    return float(gain) if isinstance(gain, (int, float)) else 0.0


def scene_of(record: DeviceRecord, config: SessionConfig, settings: SettingsView) -> Scene:
    """Return the scene in force: none while scenes are switched off, or for a device without them."""
    there = settings.flag(SCENES_ENABLED) and record.kind.spec.has("scene")
    return config.device(record.device_id).scene if there else NO_SCENE


def damping_json(damping: Damping, *, complete: bool = False) -> dict[str, Any]:
    """Return `scalar`, and `vector` when it is not zero or `complete`."""
    shown: dict[str, Any] = {"scalar": kept(damping.scalar)}
    if complete or damping.vector != ORIGIN:
        shown["vector"] = dict(zip("xyz", map(kept, damping.vector), strict=True))
    return shown


def transform_json(transform: Transform, *, complete: bool) -> dict[str, dict[str, float]]:
    """Return a transform as JSON, rotations as w, x, y, z; without identity parts unless `complete`."""
    shown: dict[str, dict[str, float]] = {}
    if complete or transform.position != ORIGIN:
        shown["position"] = dict(zip("xyz", transform.position, strict=True))
    if complete or transform.rotation != NO_ROTATION:
        shown["rotation"] = dict(zip("wxyz", transform.rotation, strict=True))
    if complete or transform.scale != ONES:
        shown["scale"] = dict(zip("xyz", transform.scale, strict=True))
    return shown


def _start_view(runtime: Runtime, record: DeviceRecord, start: SessionConfig) -> Writer:
    """Return a writer with the start view; it belongs to no session and is never published."""
    view = runtime.writer(NOBODY, record.lease)
    basis, mount = start.basis_of(record.device_id), mount_of(start, record)
    workspace = start.device(record.device_id).workspace
    view.set_basis(basis.axes, basis.signs)
    view.set_mount(mount.position, mount.rotation, mount.scale)
    view.set_workspace(workspace.position, workspace.rotation, workspace.scale)
    if record.kind.has_cursor:
        view.set_navigation(start.device(record.device_id).navigation.in_force, home_of(record))
    return view


def _complete(settings: SettingsView) -> bool:
    return settings.flag("serialization/explicit_fields") or settings.flag("serialization/force_complete_transforms")


def _device_info(record: DeviceRecord, version: str) -> dict[str, Any]:
    identity = record.identity
    if version == "3.0":
        return {
            "firmware_version": str(identity.firmware),
            "hardware_version": str(identity.hardware_version),
            "model": DEVICE_TYPES[identity.kind],
            "id": identity.device_id,
            "uuid": identity.uuid,
        }
    return {
        "major_version": identity.firmware.major,
        "minor_version": identity.firmware.minor,
        "id": identity.device_id,
        "device_type": DEVICE_TYPES[identity.kind],
        "uuid": identity.uuid,
    }


def _extended_firmware(record: DeviceRecord) -> str:
    """Return 32 hex digits: the version in the first eight, zeros behind it for a device without a build id."""
    firmware = record.identity.firmware
    return f"{firmware.major:04X}{firmware.minor:04X}".ljust(32, "0")
