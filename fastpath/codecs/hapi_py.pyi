# hAPI boards for Python: tests encode and decode with the same C as the port thread.

from collections.abc import Sequence
from typing import NamedTuple, final

PATIENCE_S: float

# The newest sample: its number, when it came (ns), joint angles (degrees).
class Sample(NamedTuple):
    number: int
    time_ns: int
    joint: tuple[float, float, float]

# One board's codec with the config of its driver. ValueError for a config that is too long.
@final
class Exchange:
    def __new__(cls, config: bytes) -> Exchange: ...
    # The message for joint torques (N.mm); empty when nothing is to be sent now.
    def order(self, torque: Sequence[float], now: int) -> bytes: ...
    # Bytes as they came; the newest sample if there was any.
    def take(self, data: bytes, now: int) -> Sample | None: ...
    # Replies that were dropped.
    @property
    def bad(self) -> int: ...
