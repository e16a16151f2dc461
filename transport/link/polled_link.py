"""A link whose thread exchanges with one device from Python, at the device's own rate: orders of the loop out, samples in.

Each exchange needs the interpreter, so the rate is lower and the watchdog longer than those of a port thread in C: an order
older than 100 ms becomes zero force. When the thread itself was late by more than 20 ms, the force begins from zero. Once the thread runs,
only it talks to the device.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from actors.port.api import CalibrationResult, DeviceFacts, LinkCounters, LinkFacts
from fastpath.arena.runtime import now_ns
from transport.link.polled_device import PolledDevice, Unplugged

if TYPE_CHECKING:
    from actors.device.api import DeviceWide
    from actors.values.spatial import Quaternion, Vec3
    from fastpath.arena.runtime import Lease

RATE_HZ: Final = 500.0
WATCHDOG_NS: Final = 100_000_000
DEAF_S: Final = 1.0  # without a sample: the device has gone
JOIN_S: Final = 0.5
NS_PER_S: Final = 1_000_000_000
NO_TORQUE: Final[Vec3] = (0.0, 0.0, 0.0)

logger = logging.getLogger(__name__)


class Cell(Protocol):
    """The loop's orders to one device and its samples from it."""

    def order(self, period_ns: int, /) -> tuple[int, Vec3, Vec3] | None:
        """Return time of the order (ns), force (N) and joint torques (N.mm); None: no order in this lease.

        Both are zero after a call that comes late by more than 20 ms, until the loop has begun from zero; `period_ns`: between two calls.
        """
        ...

    def put(self, *, joint: Vec3, orientation: Quaternion, buttons: int, bits: int) -> bool:
        """Store a sample that arrived now: degrees, unit quaternion, `PortBit`s; False when the lease has ended."""
        ...


class PolledLink:
    """Exchanges zero force from the first moment, so that homing goes on, and with the loop from `start` on."""

    receiver = False

    def __init__(
        self,
        device: PolledDevice,
        make_cell: Callable[[Lease], Cell],
        clock: Callable[[], int],
        *,
        rate_hz: float = RATE_HZ,
        deaf_s: float = DEAF_S,
    ) -> None:
        """`clock` is the one of the orders, ns."""
        self._device = device
        self._make_cell = make_cell
        self._clock = clock
        self._deaf_s = deaf_s
        self._period_ns = round(NS_PER_S / rate_hz)
        self._device_id = device.found.device_id
        self._cell: Cell | None = None
        self._gone = ""
        self._late = 0
        self._errors = 0
        self._calibration: CalibrationResult | None = None
        self._calibrating: int | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"hd-u-{self._device_id}", daemon=True)
        self._thread.start()

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with the slot of the device, or zero force without one."""
        lease = leases.get(self._device_id)
        self._cell = None if lease is None else self._make_cell(lease)

    def facts(self) -> LinkFacts:
        """Return the facts of this moment."""
        device = self._device
        counters = LinkCounters(
            frames_in=device.frames_in,
            frames_bad=device.frames_bad,
            frames_out=device.frames_out,
            bytes_in=device.bytes_in,
            bytes_out=device.bytes_out,
            late=self._late,
            errors=self._errors,
        )
        device_facts = DeviceFacts(
            heartbeat_ns=now_ns() if device.beats and not self._gone else None,
            fault=device.fault,
            calibration=self._calibrated(),
            homed=device.homed,
        )
        return LinkFacts(self._gone, (device.found,), {self._device_id: device_facts}, counters)

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Do nothing: the loop does all of it."""
        del device_id, wide, save

    def calibrate(self, device_id: str, run: int) -> None:
        """Start calibration `run`, which succeeds as soon as the device is homed; 0 aborts a running one."""
        del device_id
        self._calibrating = run or None

    def close(self) -> None:
        """Send zero force and join the thread."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _calibrated(self) -> CalibrationResult | None:
        run = self._calibrating
        if run is not None and self._device.homed:
            self._calibration = CalibrationResult(run)
        return self._calibration

    # ------------------------------------------------------------ on the thread

    def _run(self) -> None:
        try:
            self._exchange_until_stopped()
        except Unplugged as error:
            self._gone = str(error)
            self._errors += 1
        except Exception as error:
            logger.exception("the driver of device %s failed", self._device_id, extra={"device": self._device_id})
            self._gone = f"its driver failed ({error!r})"
            self._errors += 1
        finally:
            self._device.close()

    def _exchange_until_stopped(self) -> None:
        due = sampled = now_ns()
        while not self._stop.is_set():
            cell = self._cell
            sample = self._device.exchange(NO_TORQUE if cell is None else self._torque(cell))
            now = now_ns()
            if sample is not None:
                sampled = now
                if cell is not None:
                    bits = sample.bits
                    cell.put(joint=sample.joint, orientation=sample.orientation, buttons=sample.buttons, bits=bits)
            elif now - sampled > self._deaf_s * NS_PER_S:
                raise Unplugged(f"it has not answered for {self._deaf_s:g} s")
            due = max(due + self._period_ns, now - self._period_ns)
            if due > now:
                self._stop.wait((due - now) / NS_PER_S)

    def _torque(self, cell: Cell) -> Vec3:
        """Return the torques that the loop orders, zero when the order is too old."""
        order = cell.order(self._period_ns)
        if order is None:
            return NO_TORQUE
        if self._clock() - order[0] > WATCHDOG_NS:
            self._late += any(order[2])
            return NO_TORQUE
        return order[2]
