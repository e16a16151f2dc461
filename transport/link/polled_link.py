"""One open USB device: a thread that carries the loop's orders to it and its answers to the loop, at a rate of its own.

pyusb needs the interpreter around each transfer, so that the rate is lower and the watchdog longer than those of a serial
port: what the loop ordered more than 100 ms ago is zero force. Only the thread talks to the device once it runs.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from actors.port.api import DeviceFacts, Ended, LinkCounters, LinkFacts
from fastpath.arena.runtime import now_ns
from transport.link.usb_bus import Unplugged

if TYPE_CHECKING:
    from actors.device.api import DeviceWide
    from actors.values.hardware import FoundDevice
    from actors.values.spatial import Quaternion, Vec3
    from fastpath.arena.runtime import Lease
    from transport.link.sample import Sample

RATE_HZ: Final = 500.0
WATCHDOG_NS: Final = 100_000_000
# A device that answers nothing for so long is as good as gone.
DEAF_S: Final = 1.0
JOIN_S: Final = 0.5
NS_PER_S: Final = 1_000_000_000
NOTHING: Final[Vec3] = (0.0, 0.0, 0.0)

logger = logging.getLogger(__name__)


class PolledDevice(Protocol):
    """One device, as its protocol drives it; every method on one thread at a time."""

    @property
    def found(self) -> FoundDevice:
        """Who it is."""
        ...

    @property
    def frames_in(self) -> int:
        """Whole ones."""
        ...

    @property
    def frames_bad(self) -> int:
        """Broken ones."""
        ...

    @property
    def frames_out(self) -> int:
        """Commands so far."""
        ...

    @property
    def bytes_in(self) -> int:
        """All that came."""
        ...

    @property
    def bytes_out(self) -> int:
        """All that was sent."""
        ...

    @property
    def fault(self) -> str:
        """What is wrong, in words, "" while nothing is."""
        ...

    @property
    def homed(self) -> bool:
        """Whether it knows where it is."""
        ...

    @property
    def beats(self) -> bool:
        """Whether it is a handle that is there as long as its link is."""
        ...

    def exchange(self, torque: Vec3) -> Sample | None:
        """Joint torques (N.mm) out; what it answers, None when nothing new came. At most 50 ms; Unplugged."""
        ...

    def close(self) -> None:
        """Zero force, and give it back; never raises."""
        ...


class Cell(Protocol):
    """The loop's end of one device."""

    def order(self) -> tuple[int, Vec3, Vec3] | None:
        """When the loop ordered it (ns), force (N) and joint torques (N.mm); None: nothing was ordered in this lease."""
        ...

    def put(self, *, joint: Vec3, orientation: Quaternion, buttons: int, bits: int) -> bool:
        """A sample that arrived now: degrees, unit quaternion, `PortBit`s; False when the device is not ours any more."""
        ...


class PolledLink:
    """Exchanges zero force from the first moment, so that homing goes on; with the loop once `start` has named the slot."""

    receiver = False

    def __init__(
        self,
        device: PolledDevice,
        cells: Callable[[Lease], Cell],
        clock: Callable[[], int],
        *,
        rate_hz: float = RATE_HZ,
        deaf_s: float = DEAF_S,
    ) -> None:
        """`clock` is the one that orders are stamped with, ns."""
        self._device = device
        self._cell_of = cells
        self._clock = clock
        self._deaf_s = deaf_s
        self._period_ns = round(NS_PER_S / rate_hz)
        self._device_id = device.found.device_id
        self._cell: Cell | None = None
        self._gone = ""
        self._late = 0
        self._errors = 0
        self._calibration: Ended | None = None
        self._calibrating: int | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"hd-u-{self._device_id}", daemon=True)
        self._thread.start()

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with the loop for the device, or with nobody."""
        lease = leases.get(self._device_id)
        self._cell = None if lease is None else self._cell_of(lease)

    def facts(self) -> LinkFacts:
        """What holds now."""
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
        about = DeviceFacts(
            heartbeat_ns=now_ns() if device.beats and not self._gone else None,
            fault=device.fault,
            calibration=self._calibrated(),
            homed=device.homed,
        )
        return LinkFacts(self._gone, (device.found,), {self._device_id: about}, counters)

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Nothing: the loop does all of it."""
        del device_id, wide, save

    def calibrate(self, device_id: str, run: int) -> None:
        """It calibrates itself as long as it is not: done as soon as it is; nobody waits for it then."""
        del device_id
        self._calibrating = run or None

    def close(self) -> None:
        """Zero force sent, thread joined."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _calibrated(self) -> Ended | None:
        run = self._calibrating
        if run is not None and self._device.homed:
            self._calibration = Ended(run)
        return self._calibration

    # ------------------------------------------------------------ on the thread

    def _run(self) -> None:
        try:
            self._exchange_on()
        except Unplugged as error:
            self._gone = str(error)
            self._errors += 1
        except Exception as error:
            logger.exception("the driver of device %s failed", self._device_id)
            self._gone = f"its driver failed ({error!r})"
            self._errors += 1
        finally:
            self._device.close()

    def _exchange_on(self) -> None:
        due = heard = now_ns()
        while not self._stop.is_set():
            cell = self._cell
            sample = self._device.exchange(NOTHING if cell is None else self._torque(cell))
            now = now_ns()
            if sample is not None:
                heard = now
                if cell is not None:
                    bits = sample.bits
                    cell.put(joint=sample.joint, orientation=sample.orientation, buttons=sample.buttons, bits=bits)
            elif now - heard > self._deaf_s * NS_PER_S:
                raise Unplugged(f"it has not answered for {self._deaf_s:g} s")
            due = max(due + self._period_ns, now - self._period_ns)
            if due > now:
                self._stop.wait((due - now) / NS_PER_S)

    def _torque(self, cell: Cell) -> Vec3:
        """What the loop orders, zero once that is too old."""
        order = cell.order()
        if order is None:
            return NOTHING
        if self._clock() - order[0] > WATCHDOG_NS:
            self._late += any(order[2])
            return NOTHING
        return order[2]
