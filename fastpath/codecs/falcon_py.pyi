# Novint Falcon codec for Python: the driver encodes and decodes with it; its kinematics, for tests.

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias, final

Vector: TypeAlias = tuple[float, float, float]

HOMED: Final[int]
# bits of the lights
HOMING: Final[int]
GREEN: Final[int]
BLUE: Final[int]
RED: Final[int]
MOST_COUNTS: Final[int]

# Decoded reply: encoder counts, crank angles in degrees, one bit for each homed motor, buttons: 1 plus, 2 forward, 4 centre, 8 minus.
class Reply(NamedTuple):
    counts: tuple[int, int, int]
    angles: Vector
    homed: int
    buttons: int

# 16 bytes for three motor commands; lights: HOMING, GREEN, BLUE, RED. ValueError unless each is within an int16.
def command(counts: Sequence[int], lights: int = 0) -> bytes: ...

# Crank torques (N.mm) -> commands within +-4096 of the same direction; zero for NaN.
def motor_counts(torque: Sequence[float], counts_per_nm: float) -> tuple[int, int, int]: ...

# Encoder count -> crank angle in degrees, and back.
def angle(count: int) -> float: ...
def count(degrees: float) -> float: ...

# Decoder of replies in a stream of bytes, in pieces of any size.
@final
class Replies:
    # The newest reply that these bytes complete, or None.
    def take(self, data: bytes) -> Reply | None: ...
    # Numbers of valid and of dropped frames.
    @property
    def whole(self) -> int: ...
    @property
    def bad(self) -> int: ...

# Kinematics of the Falcon's delta mechanism at `base` (m, device frame). Angles in radians, in the order of the motors.
@final
class Delta:
    def __new__(cls, base: Sequence[float] = (0.0, 0.0, 0.0)) -> Delta: ...
    # Cursor (m) -> crank angles; None out of reach.
    def inverse(self, position: Sequence[float]) -> Vector | None: ...
    # Crank angles -> cursor (m); None when the legs do not close.
    def forward(self, angles: Sequence[float]) -> Vector | None: ...
    # d(angle)/d(cursor), rad/m, a row for each crank; None at the edge of the reach and outside.
    def cranks(self, position: Sequence[float]) -> tuple[Vector, Vector, Vector] | None: ...
    # Crank torques (N.m) -> cursor force (N); zero at the edge of the reach and outside.
    def force(self, position: Sequence[float], torque: Sequence[float]) -> Vector: ...
