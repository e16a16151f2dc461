# hAPI codec for Python: tests encode and decode with the same C as the port thread.

from collections.abc import Sequence
from typing import NamedTuple, final

TIMEOUT_S: float
# N.mm of each motor
TORQUE_LIMIT: int

# The codec's config of a board whose ports, from the first on, have the motors and encoders of these joints. ValueError: too many.
def config(board_id: int, by_port: Sequence[int]) -> bytes: ...

# The message with zero torques.
def zero_message(board_id: int, motors: int) -> bytes: ...

# Decoded sample: number, time of arrival (ns), joint angles (degrees).
class Sample(NamedTuple):
    number: int
    time_ns: int
    joint: tuple[float, float, float]

# Codec of one board with the config of its driver. ValueError for a config that is too long.
@final
class Exchange:
    def __new__(cls, config: bytes) -> Exchange: ...
    # The message for joint torques (N.mm); empty when nothing is to be sent now.
    def order(self, torque: Sequence[float], now: int) -> bytes: ...
    # Decode received bytes; the newest sample, or None.
    def take(self, data: bytes, now: int) -> Sample | None: ...
    # Number of dropped replies.
    @property
    def bad(self) -> int: ...
