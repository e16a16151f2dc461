# JSON encoder: whole frames from the loop's cells, numbers, and every other JSON body.
#
# Real numbers are float32, shortest digits that round-trip; values beyond float32 give `null`, and are counted. The exception is
# a frame's `time`: decimal seconds with microseconds, which float32 would round to minutes.

from collections.abc import Iterable, Mapping, Sequence
from typing import final

from fastpath.arena.access import Reader, Writer

# Text of one real number as float32; NaN, infinity and values beyond float32 give `null`, counted in `nulls()`.
def number(x: float) -> bytes: ...

# Number of `null` that this process wrote in place of a number, frames included; it never decreases.
def nulls() -> int: ...

# JSON of dict, list, tuple, str, bool, None, int, float and numpy scalars; members keep their order. TypeError for other types
# and for keys other than str; ValueError beyond 64 levels. Lone surrogates become U+FFFD.
def encode_json(value: object) -> bytes: ...

# Template of `state` for StateShape.SHAPE_FIELDS: (member, field of the device state, labels of its first numbers, steps per
# unit to which they are rounded). `motors`: with control domain and mode, and the status of a device with motors.
# KeyError or ValueError for a field that the device state does not have.
@final
class StateFields:
    def __new__(cls, fields: Iterable[tuple[str, str, tuple[str, ...], float]], *, motors: bool) -> StateFields: ...
    @property
    def motors(self) -> bool: ...

# One device in a frame, as the session behind `writer` sees it; without a writer, in device space. `shape` is a StateShape, with
# `fields` for SHAPE_FIELDS; `wireless` adds the battery; `ready` is shown only while the loop is ready too. ValueError when reader
# and writer belong to different devices.
@final
class FrameEntry:
    def __new__(
        cls,
        device_id: str,
        shape: int,
        reader: Reader,
        writer: Writer | None,
        wireless: bool = False,
        ready: bool = True,
        fields: StateFields | None = None,
    ) -> FrameEntry: ...
    @property
    def device_id(self) -> str: ...
    @property
    def shape(self) -> int: ...
    @property
    def fields(self) -> StateFields | None: ...
    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> Writer | None: ...
    @property
    def wireless(self) -> bool: ...
    @property
    def ready(self) -> bool: ...

# Texts of the newest states of one arena's devices, for the encoders of one thread. `taken`: how many were not written again.
@final
class SharedTexts:
    def __new__(cls) -> SharedTexts: ...
    @property
    def taken(self) -> int: ...

# Frames of one connection: groups in the given order, each with its entries; groups without entries are included. An entry in
# several groups is read and written once: all of them show the same state.
# `version` is 30 or 31; without a session id the frame has no `session_id`. Only for who holds the lock of the session.
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
    # Number of `null` in these frames.
    @property
    def nulls(self) -> int: ...
    # One whole frame of the newest states. `configs`: (group, device id) -> JSON text of its `config`, copied unchanged. `errors`:
    # (path, reason) of each bad part, at most eight, paths cut to 100 characters, reasons behind a word, within 2,048 bytes in all. `states`:
    # device id -> further members of its state, a comma before each. `shared`: texts of one arena's devices that other encoders
    # of this thread wrote and may take.
    def encode(
        self,
        configs: Mapping[tuple[str, str], bytes] | None = None,
        errors: Sequence[tuple[str, str]] | None = None,
        states: Mapping[str, bytes] | None = None,
        *,
        shared: SharedTexts | None = None,
    ) -> bytes: ...
