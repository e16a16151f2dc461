# Text on the wire: whole frames from the cells of the loop, numbers, and every other JSON body.
#
# Real numbers are float32, shortest digits that round-trip; what float32 cannot hold is `null`, and counted. The exception is
# a frame's `time`: decimal seconds with microseconds, which float32 would round to minutes.

from collections.abc import Mapping, Sequence
from typing import final

from fastpath.arena.access import Reader, Writer

# Text of one real number as float32; NaN, infinity and what float32 cannot hold: `null`, counted in `nulls()`.
def number(x: float) -> bytes: ...

# How many numbers this process wrote as `null`, frames included; only ever grows.
def nulls() -> int: ...

# JSON of dict, list, tuple, str, bool, None, int, float and numpy scalars, in the order given. TypeError for anything else
# and for keys that are no str; ValueError past 64 levels. Lone surrogates become U+FFFD.
def encode_json(value: object) -> bytes: ...

# One device in a frame, as the session behind `writer` sees it; without a writer, in device space. `kind` is 1 (arm),
# 2 (compact), 3 (grip) or 4 (pen); `wireless` adds the battery; `ready` is shown when the loop has it as well. ValueError when
# reader and writer are of two devices.
@final
class FrameEntry:
    def __new__(
        cls,
        device_id: str,
        kind: int,
        reader: Reader,
        writer: Writer | None,
        wireless: bool = False,
        ready: bool = True,
    ) -> FrameEntry: ...
    @property
    def device_id(self) -> str: ...
    @property
    def kind(self) -> int: ...
    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> Writer | None: ...
    @property
    def wireless(self) -> bool: ...
    @property
    def ready(self) -> bool: ...

# Frames of one connection: groups in the order given, each with its entries; a group without entries is there too.
# `version` is 30 or 31; without a session id the frame has no `session_id`. One thread: the one that publishes its records.
@final
class FrameEncoder:
    def __new__(
        cls,
        session_id: int | None,
        groups: Sequence[tuple[str, Sequence[FrameEntry]]],
        *,
        version: int,
        explicit_fields: bool = False,
        complete_transforms: bool = False,
        status_safety: bool = False,
        timestamps: bool = False,
    ) -> FrameEncoder: ...
    # How many numbers of these frames were `null`.
    @property
    def nulls(self) -> int: ...
    # One whole frame of the newest states. `configs`: device id -> JSON text of its `config`, taken as it is. `errors`:
    # (path, reason) of each bad part, at most eight, each text cut to 100 characters, within 2,048 bytes in all. `states`:
    # device id -> more members of its state, a comma before each.
    def encode(
        self,
        configs: Mapping[str, bytes] | None = None,
        errors: Sequence[tuple[str, str]] | None = None,
        states: Mapping[str, bytes] | None = None,
    ) -> bytes: ...
