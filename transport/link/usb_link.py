"""One open USB device: a thread that carries the loop's orders to it and its answers to the loop, at a rate of its own.

pyusb needs the interpreter around each transfer, so that the rate is lower and the watchdog longer than those of a serial
port: what the loop ordered more than 100 ms ago is zero force. Only the thread talks to the device once it runs.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from actors.port.link import DeviceFacts, Ended, LinkCounters, LinkFacts
from fastpath.arena import now_ns
from transport.link.usb_bus import Unplugged

if TYPE_CHECKING:
    from actors.device.messages import DeviceWide
    from actors.values.hardware import FoundDevice
    from actors.values.spatial import Vec3
    from fastpath.arena import Lease
    from transport.link.sample import Sample

RATE_HZ: Final = 500.0
WATCHDOG_S: Final = 0.1
# A device that answers nothing for so long is as good as gone.
DEAF_S: Final = 1.0
JOIN_S: Final = 0.5
NS_PER_S: Final = 1_000_000_000
NOTHING: Final[Vec3] = (0.0, 0.0, 0.0)

logger = logging.getLogger(__name__)


class Driver(Protocol):
    """One device, as its protocol drives it; every method on one thread at a time."""

    found: FoundDevice
    frames_in: int
    frames_bad: int
    frames_out: int
    bytes_in: int
    bytes_out: int
    fault: str

    def exchange(self, torque: Vec3) -> Sample | None:
        """Joint torques (N.mm) out; what it answers, None when nothing new came. At most 50 ms; Unplugged."""
        ...

    def close(self) -> None:
        """Zero force, and give it back; never raises."""
        ...


class Cells(Protocol):
    """The loop's end: what it ordered last, and where a sample goes."""

    def order(self) -> tuple[int, Vec3] | None:
        """When the loop ordered it (ns), and joint torques (N.mm); None before the first order of this lease."""
        ...

    def put(self, sample: Sample) -> None:
        """Newest wins."""
        ...

    def now_ns(self) -> int:
        """The clock that orders are stamped with."""
        ...


class UsbLink:
    """Exchanges zero force from the first moment, so that homing goes on; with the loop once `start` has named the slot."""

    receiver = False

    def __init__(self, driver: Driver, cells: Callable[[Lease], Cells], rate_hz: float = RATE_HZ) -> None:
        self._driver = driver
        self._cells_of = cells
        self._period_ns = round(NS_PER_S / rate_hz)
        self._device_id = driver.found.device_id
        self._cells: Cells | None = None
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
        self._cells = None if lease is None else self._cells_of(lease)

    def facts(self) -> LinkFacts:
        """What holds now."""
        driver = self._driver
        counters = LinkCounters(
            frames_in=driver.frames_in,
            frames_bad=driver.frames_bad,
            frames_out=driver.frames_out,
            bytes_in=driver.bytes_in,
            bytes_out=driver.bytes_out,
            late=self._late,
            errors=self._errors,
        )
        about = DeviceFacts(fault=driver.fault, calibration=self._calibrated())
        return LinkFacts(self._gone, (driver.found,), {self._device_id: about}, counters)

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Nothing: the loop does all of it."""
        del device_id, wide, save

    def calibrate(self, device_id: str, run: int) -> None:
        """It calibrates itself as long as it is not: done as soon as it is."""
        del device_id
        self._calibrating = run

    def close(self) -> None:
        """Zero force sent, thread joined."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _calibrated(self) -> Ended | None:
        run = self._calibrating
        if run is not None and not self._driver.fault:
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
            self._driver.close()

    def _exchange_on(self) -> None:
        due = heard = now_ns()
        while not self._stop.is_set():
            cells = self._cells
            sample = self._driver.exchange(NOTHING if cells is None else self._torque(cells))
            now = now_ns()
            if sample is not None:
                heard = now
                if cells is not None:
                    cells.put(sample)
            elif now - heard > DEAF_S * NS_PER_S:
                raise Unplugged(f"it has not answered for {DEAF_S:g} s")
            due = max(due + self._period_ns, now - self._period_ns)
            if due > now:
                self._stop.wait((due - now) / NS_PER_S)

    def _torque(self, cells: Cells) -> Vec3:
        """What the loop orders, zero once that is too old."""
        order = cells.order()
        if order is None:
            return NOTHING
        ordered_ns, torque = order
        if cells.now_ns() - ordered_ns > WATCHDOG_S * NS_PER_S:
            self._late += 1
            return NOTHING
        return torque
