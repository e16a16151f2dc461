"""Schemas of `GET /devices` and `GET /{device}/{id}`: the groups of a full frame in either vocabulary and frame version."""

from __future__ import annotations

from typing import Any, Final

from actors.values.kinds.base import FrameShape, KindSpec
from actors.values.kinds.registry import specs
from fastpath.navigation.values import ZONES
from transport.http.schema.json_schema import (
    FLAG,
    OBJECT,
    TEXT,
    WHOLE,
    Named,
    either,
    listed,
    mapped,
    nullable,
    number,
    obj,
    text,
    word,
)
from transport.http.schema.navigation import NAVIGATION
from transport.http.schema.scene import SCENE
from transport.http.schema.values import DAMPING, ENABLED, FORCE_GATE, GRAVITY, HANDEDNESS

_VEC3: Final = obj(dict.fromkeys("xyz", number()))
_JOINTS: Final = obj({"a0": number(), "a1": number(), "a2": number()})
_ROTATION: Final = obj(dict.fromkeys("wxyz", number()))
_TRANSFORM: Final = obj(
    {}, optional={"position": _VEC3, "rotation": _ROTATION, "scale": _VEC3}, description="Identity parts are left out."
)
_NAMED: Final[dict[str, Any]] = {"name": text("Only where one was given.")}
_HEAD: Final[dict[str, Any]] = {"type": TEXT, "connection": TEXT, "port": TEXT, "paired_with": nullable(TEXT)}

ARM_CONFIG: Final = obj(
    {
        **_HEAD,
        "device_info": OBJECT,
        "extended_device_id": TEXT,
        "extended_firmware_version": TEXT,
        "handedness": HANDEDNESS,
        "streaming_mode": TEXT,
        "gravity_compensation": GRAVITY,
        "torque_scaling": ENABLED,
        "home_return": ENABLED,
        "preset": TEXT,
        "basis": obj({"permutation": TEXT}),
        "mount": _TRANSFORM,
    },
    optional={
        **_NAMED,
        "force_gate": FORCE_GATE,
        "damping": DAMPING,
        "filters": obj(
            {"force_gate": FORCE_GATE, "damping": DAMPING}, description="In inverse words, in place of the two."
        ),
        "navigation": NAVIGATION,
        "scene": SCENE,
    },
)
GRIP_CONFIG: Final = obj(
    {**_HEAD, "major_version": WHOLE, "minor_version": WHOLE, "hardware_version": WHOLE}, optional=_NAMED
)

ARM_STATE: Final = obj(
    {
        "cursor_position": _VEC3,
        "cursor_velocity": _VEC3,
        "angular_position": _JOINTS,
        "angular_velocity": _JOINTS,
        "body_orientation": _ROTATION,
        "current_cursor_force": _VEC3,
        "current_cursor_position": _VEC3,
        "current_angular_torques": _JOINTS,
        "current_angular_position": _JOINTS,
        "control_domain": word("undefined", "cartesian", "angular"),
        "control_mode": word("idle", "force", "position"),
        "transform": _TRANSFORM,
        "transform_velocity": OBJECT,
    },
    optional={
        "navigation": obj(
            {
                "bubble": obj(
                    {
                        "center": _VEC3,
                        "velocity_zone_width": number(),
                        "collision_extra_inflate": number(),
                        "zone": word(*ZONES),
                    }
                ),
                "transform": _TRANSFORM,
            },
            description="Only while the session navigates.",
        )
    },
)
GRIP_STATE: Final = obj(
    {"orientation": _ROTATION, "hall": number(), "button": FLAG, "buttons": OBJECT, "transform": _TRANSFORM},
    optional={"battery_level": number(0, 1), "battery_voltage": number()},
)
_STATUS: Final = obj({"ready": FLAG})

_CONTROL: Final = {key: ARM_STATE["properties"][key] for key in ("control_domain", "control_mode")}


def parts_of(spec: KindSpec) -> dict[str, Any]:
    """Schemas of config, state and status of a kind whose state is rows of fields."""
    config = {**ARM_CONFIG["properties"], **GRIP_CONFIG["properties"]}
    fields = {row.name: obj(dict.fromkeys(row.labels, number())) for row in spec.frame_fields}
    return {
        "config": obj(_HEAD, optional={key: schema for key, schema in config.items() if key not in _HEAD}),
        "state": obj({**fields, **(_CONTROL if spec.has_motors else {})}),
        "status": _STATUS,
    }


_PARTS: Final = (
    {"config": ARM_CONFIG, "state": ARM_STATE, "status": _STATUS},
    {"config": GRIP_CONFIG, "state": GRIP_STATE, "status": _STATUS},
    *(parts_of(spec) for spec in specs() if spec.frame_shape is FrameShape.FIELDS),
)
_IDENTIFIED: Final = {"device_id": TEXT}
_LOST: Final = {"interrupted_s": number(0), "force_lost": number(0, 1), "gaps": WHOLE, "longest_ms": number(0)}
_OF_MOTORS: Final = {
    "interruptions": obj(
        _LOST,
        description="Only with motors: s without the commanded force because of gaps of the control loop, its share of the time with "
        "force, number of gaps and the longest; since the device connected.",
    )
}

INTERRUPTION: Final = obj({"device_id": TEXT, **_LOST, "window_s": number(0), "cause": TEXT})
ENTRY: Final = Named("Device", either(*(obj({**_IDENTIFIED, **parts}, optional=_OF_MOTORS) for parts in _PARTS)))
ENTRY_V30: Final = Named("DeviceV30", either(*(obj(parts, optional=_OF_MOTORS) for parts in _PARTS)))
GROUPS: Final = Named(
    "Devices",
    mapped(
        either(listed(ENTRY), mapped(ENTRY_V30)),
        "Groups of devices as in a full frame: arrays, behind /3.0 objects keyed by id; top-level tick and time only with "
        "serialization/timestamps, session_id and ok only in an entry of results.",
    )
    | {"properties": {"tick": WHOLE, "time": number(), "session_id": WHOLE, "ok": FLAG}},
)
RECORD: Final = Named(
    "DeviceRecord",
    either(
        *(
            obj({**_IDENTIFIED, **parts, "held_by": nullable(WHOLE), "reports": TEXT}, optional=_OF_MOTORS)
            for parts in _PARTS
        ),
        description="One device in device space, the session that holds its position, and what a real one says is wrong with it or "
        'did not take of its configuration: "" while nothing is.',
    ),
)
