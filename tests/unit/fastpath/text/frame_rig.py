"""A stepped loop with one device of each kind and frames of it, for tests of the frame encoder."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import Capability, StateShape
from fastpath.layout.dtypes import DEVICE_PARAMS
from fastpath.text.encoder import FrameEncoder, FrameEntry

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

ARM, COMPACT, GRIP, PEN = 1, 2, 3, 4
SHAPES = {
    ARM: StateShape.SHAPE_CURSOR,
    COMPACT: StateShape.SHAPE_CURSOR,
    GRIP: StateShape.SHAPE_HANDLE,
    PEN: StateShape.SHAPE_HANDLE,
}
GROUPS = {ARM: "arm", COMPACT: "compact", GRIP: "grip", PEN: "pen"}
MOVER = Capability.HAS_MOTORS | Capability.HAS_CURSOR


class FrameRig:
    """A stepped loop with an arm, a compact, a grip, a wireless grip and a pen, and sessions on them."""

    def __init__(self, max_sessions: int = 64) -> None:
        self.runtime = Runtime(realtime=False, stepping=True, max_sessions=max_sessions)
        self.kinds = {"049D": ARM, "16A5": COMPACT, "1605": GRIP, "16F2": GRIP, "1700": PEN}
        self.places = [(GROUPS[kind], name) for name, kind in self.kinds.items()]
        self.leases = {name: self.runtime.lease_device(name) for name in self.kinds}
        for name in self.kinds:
            self.publish(name)
        self.session = self.runtime.lease_session("7")

    def publish(self, device_id: str, **changes: object) -> None:
        params = np.zeros((), dtype=DEVICE_PARAMS)
        params["capabilities"] = MOVER if self.kinds[device_id] in (ARM, COMPACT) else Capability.IS_HANDLE
        params["flags"], params["accepts_commands"] = 127, 1
        params["seed"], params["torque_scaling"], params["gravity_scale"] = 5, 1, 1
        params["force_scale"] = 1
        params["peak_force"], params["torque_limit"] = 10, 6000
        small = 0.5 if device_id == "16A5" else 1.0
        params["mechanism"] = ((0, 0.08 * small, 0.135 * small), (0.26 * small, 0.26 * small), 0, 2**18, 0)
        low, high = np.array((-0.230, -0.285, -0.120)) * small, np.array((0.230, -0.005, 0.390)) * small
        params["plant"] = (0.2, 0.3, 0.15, 0.2, 3000, 5, low, high)
        params["hand"] = (0.2, 1000, 5, 300, 8, (low + high) / 2, 0.03 * small, 4, 1)
        params["battery_start"], params["battery_life"] = 0.816, 36000
        for name, value in changes.items():
            params[name] = value
        assert self.runtime.publish_device(self.leases[device_id], params)

    def reader(self, device_id: str) -> Reader:
        return self.runtime.reader(self.leases[device_id])

    def writer(self, device_id: str, session: str | None = None) -> Writer:
        lease = self.session if session is None else self.runtime.lease_session(session)
        return self.runtime.writer(lease, self.leases[device_id])

    def entry(self, device_id: str, writer: Writer | None = None) -> FrameEntry:
        return FrameEntry(device_id, SHAPES[self.kinds[device_id]], self.reader(device_id), writer, device_id == "16F2")

    def frame(self, device_id: str, writer: Writer | None = None, version: int = 31, **options: bool) -> Any:
        """The entry of one device in a frame of its own."""
        group = json.loads(
            FrameEncoder(None, [("g", [self.entry(device_id, writer)])], version=version, **options).encode()
        )["g"]
        return group[0] if version == 31 else group[device_id]

    def encoder(self, *device_ids: str, session_id: int | None = 7, version: int = 31, **options: bool) -> FrameEncoder:
        """All four groups; each device with a writer of the session."""
        groups = [
            (name, [self.entry(d, self.writer(d)) for d in device_ids if self.kinds[d] == kind])
            for kind, name in GROUPS.items()
        ]
        return FrameEncoder(session_id, groups, version=version, **options)


def shape(value: Json) -> object:
    """Keys in order and kinds of values, without the numbers."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
