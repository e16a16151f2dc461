"""PortLink: the actor of one real port. It opens the link, reports its devices for admission, and closes it.

TryPort -> Links.open -> DeviceFound -> DeviceManager -> DeviceAdmitted -> Link.start -> PortOpened; facts -> devices that leave,
wake, calibrate; gone, blocked or dropped -> Link.close (zero force) -> LinkClosed, PortClosed -> TryPort by the rules of retry.py.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import DeviceLost
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.message import Announce, Message
from actors.pairing.messages import PAIRING, CalibrationEnded
from actors.port import retry
from actors.port.link_interface import DeviceFacts, NoDeviceAnswers, OpenLimits, PortUnusable
from actors.port.link_watch import PortFacts, read
from actors.port.messages import (
    BLOCK_ON_LOOP,
    DETECTION,
    LOOP_THRESHOLD,
    PORTS,
    AwakeChanged,
    CalibrateOverLink,
    ConfigureOverLink,
    DeviceAdmitted,
    DeviceDropped,
    DeviceFound,
    DeviceRefused,
    HomedChanged,
    LinkClosed,
    PortBlocked,
    PortClosed,
    PortFaulted,
    PortOpened,
    PortPlugged,
    PortSilent,
    PortTable,
    PortUnblocked,
    link_name,
)

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.port.link_interface import Link, LinkFacts, Links
    from actors.port.open_links import OpenedLink, OpenLinks
    from actors.settings.messages import SettingsView
    from actors.values.hardware import Candidate, FoundDevice
    from fastpath.arena.runtime import Lease

ASLEEP = DeviceFacts(awake=False)
AS_AT_FIRST = DeviceFacts()
# Time for the guard to count an opening that may block the port.
COUNT_S = 0.05

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TryPort(Message):
    """Told to a PortLink by itself or its timer: open the port if it is closed and may be opened."""


@dataclass(frozen=True, slots=True)
class RetryAdmission(Message):
    """Told to a PortLink by its timer: report that device again, which has no slot yet."""

    opening: int
    link_id: str


@dataclass(frozen=True, slots=True)
class CloseLink(Message):
    """Told to a PortLink by the Detection: close the link and do not open it again."""

    why: str
    on_purpose: bool = False


@dataclass(frozen=True, slots=True)
class PortTried(Message):
    """Told by a PortLink to the Detection: the port was tried; its devices were reported to the DeviceManager."""

    port: str


@dataclass(slots=True)
class _Device:
    """One device of the open link."""

    found: FoundDevice
    slot: tuple[str, Lease] | None = None  # device id and lease; None until it is admitted
    facts: DeviceFacts = AS_AT_FIRST


class PortLink(ServiceActor):
    """Actor of one port. The link outlives it: a restarted one adopts the open link, with the slots of the inventory."""

    def __init__(
        self,
        context: Context,
        links: Links,
        opened: OpenLinks,
        table: Published[PortTable],
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        candidate: Candidate,
    ) -> None:
        super().__init__(link_name(candidate.port), context)
        self._links = links
        self._opened = opened
        self._table = table
        self._inventory = inventory
        self._settings = settings
        self._candidate = candidate
        self._port = candidate.port
        self._devices: dict[str, _Device] = {}
        # Dropped by the DeviceManager, and still listed by the receiver.
        self._ignored: set[str] = set()
        self._suspended = False
        self._silence_reported = False
        # The guard was told of the next opening.
        self._count_requested = False

    def started(self) -> None:
        """Adopt an open link, else try the port."""
        opened_link = self._opened.find(self._port)
        if opened_link is None:
            self.tell(self.name, TryPort())
            return
        for record in self._inventory.value.devices:
            if record.identity.port == self._port and record.identity.found is not None:
                slot = (record.device_id, record.lease)
                facts = opened_link.facts.of.get(record.identity.link_id, AS_AT_FIRST)
                self._devices[record.identity.link_id] = _Device(record.identity.found, slot, facts)
        self._start(opened_link.link)
        for device in self._devices.values():
            self._report_changes(device, AS_AT_FIRST, always=True)
        self.tell(self.name, PortFacts(opened_link.opening, opened_link.facts))
        self.tell(DETECTION, PortTried(self._port))

    def stopped(self) -> None:
        """Close the link, with zero force; whoever stops the actor reports it."""
        self._cancel()
        self._opened.interrupt(self._port)
        self._opened.close(self._port)

    def on_announce(self, message: Announce) -> None:
        """Report the link's devices again to a new DeviceManager, PortManager or DeviceActor."""
        if message.name == DEVICES:
            for device in self._devices.values():
                self._report_found(device.found)
        elif message.name == PORTS and self._table.value.is_blocked(self._port):
            self._close("its port is blocked")
        elif message.name == PORTS:
            self._report_opened()
        else:
            # A new DeviceActor does not know yet whether its device is awake and homed.
            for device in self._devices.values():
                if device.slot is not None and message.name == f"device/{device.slot[0]}":
                    self._report_changes(device, device.facts, always=True)

    # ------------------------------------------------------------ opening

    @handles(TryPort)
    def on_try(self, _message: TryPort) -> None:
        """Open the port unless it is blocked or suspended, and tell the Detection that it was tried."""
        blocked = self._table.value.is_blocked(self._port)
        if self._opened.find(self._port) is None and not (self._suspended or blocked):
            if self._must_count_first():
                self._count_requested = True
                self.tell(PORTS, PortPlugged(self._port))
                self._try_later(COUNT_S)
            else:
                self._try()
        self.tell(DETECTION, PortTried(self._port))

    def _must_count_first(self) -> bool:
        """Whether this opening may block the port and is not counted yet: the guard counts it first."""
        settings, threshold = self._settings.value, self._settings.value.integer(LOOP_THRESHOLD)
        return (
            not self._count_requested
            and settings.flag(BLOCK_ON_LOOP)
            and self._table.value.may_be_blocked(self._port, threshold)
        )

    def _try(self) -> None:
        stop = self._opened.begin_opening(self._port)
        try:
            link = self._links.open(self._candidate, self._limits(), stop)
        except PortUnusable as error:
            self._silence_reported = False
            self.tell(PORTS, PortFaulted(self._port, self._candidate.path, error.reason, error.sentence))
            self._try_later(retry.after_fault(error.reason))
        except NoDeviceAnswers as error:
            if not stop.is_set():
                self._report_silence(error.sentence)
        except Exception as error:
            logger.exception("the driver of port %s failed while it opened", self._port, extra={"port": self._port})
            self._report_silence(f"its driver failed ({error!r})")
        else:
            opened_link = self._opened.register(self._candidate, link, read(self._port, link), stop)
            if opened_link is None:
                link.close()
                return
            self._silence_reported = self._count_requested = False
            self._register(opened_link)

    def _register(self, opened_link: OpenedLink) -> None:
        devices = opened_link.facts.devices
        named = ", ".join(map(_named, devices)) or "nobody is there yet"
        logger.info("port %s is open: %s", self._port, named, extra={"port": self._port})
        self._update_devices(opened_link.facts)
        if not devices:
            self._report_opened()

    def _report_silence(self, sentence: str) -> None:
        """Report once that no device answers, and try again after a detection period."""
        if not self._silence_reported:
            self._silence_reported = True
            shown = self._port, self._candidate.path, sentence
            logger.info("port %s (%s): nobody answers: %s", *shown, extra={"port": self._port})
            self.tell(PORTS, PortSilent(self._port))
        self._try_later(self._period_s())

    def _try_later(self, seconds: float | None) -> None:
        if seconds is not None and not self._suspended:
            self.context.timers.after(seconds, self.name, TryPort(), key=(self.name, TryPort))

    # ------------------------------------------------------------ devices

    @handles(DeviceAdmitted)
    def on_admitted(self, message: DeviceAdmitted) -> None:
        """Exchange data between the device and its slot from now on."""
        opened_link, device = self._current(message.opening), self._devices.get(message.link_id)
        if opened_link is None:
            return
        if device is None:
            self.tell(DEVICES, DeviceLost(message.device_id, message.lease.generation, "it has gone already"))
        elif device.slot != (message.device_id, message.lease):
            device.slot = (message.device_id, message.lease)
            self._start(opened_link.link)
            self._report_opened()
            self._report_changes(device, device.facts, always=True)

    @handles(DeviceRefused)
    def on_refused(self, message: DeviceRefused) -> None:
        """Report the device again after the given time."""
        if self._current(message.opening) is not None and message.link_id in self._devices:
            again = RetryAdmission(message.opening, message.link_id)
            self.context.timers.after(message.again_s, self.name, again, key=(self.name, message.link_id))

    @handles(RetryAdmission)
    def on_retry_admission(self, message: RetryAdmission) -> None:
        """Report the device again if it still has no slot."""
        device = self._devices.get(message.link_id)
        if device is not None and device.slot is None and self._current(message.opening) is not None:
            self._report_found(device.found)

    @handles(DeviceDropped)
    def on_dropped(self, message: DeviceDropped) -> None:
        """Stop driving the device: a receiver goes on with its other devices, any other link is closed."""
        device, opened_link = self._devices.get(message.link_id), self._opened.find(self._port)
        if (
            device is None
            or opened_link is None
            or device.slot is None
            or device.slot[1].generation != message.generation
        ):
            return
        if opened_link.link.receiver:
            del self._devices[message.link_id]
            self._ignored.add(message.link_id)
            self._start(opened_link.link)
            self._report_opened()
        else:
            self._suspended = not message.again
            self._close("its device is not driven any more")
            self._try_later(self._period_s())

    @handles(PortFacts)
    def on_facts(self, message: PortFacts) -> None:
        """Handle new facts: the link is gone, or devices came, left, woke up, calibrated."""
        opened_link, facts = self._current(message.opening), message.facts
        if opened_link is None:
            return
        if facts.gone:
            self._close(facts.gone)
            self._try_later(self._period_s())
            return
        self._update_devices(facts)
        for link_id, device in self._devices.items():
            before, device.facts = device.facts, facts.of.get(link_id, AS_AT_FIRST)
            self._report_changes(device, before)

    def _update_devices(self, facts: LinkFacts) -> None:
        here = facts.devices
        ids = {found.device_id for found in here}
        self._ignored &= ids
        gone = [device for link_id, device in self._devices.items() if link_id not in ids]
        self._devices = {link_id: device for link_id, device in self._devices.items() if link_id in ids}
        for device in gone:
            if device.slot is not None:
                device_id, lease = device.slot
                self.tell(DEVICES, DeviceLost(device_id, lease.generation, "its receiver does not hear it any more"))
        opened_link = self._opened.find(self._port)
        if gone and opened_link is not None:
            self._start(opened_link.link)
            self._report_opened()
        for found in here:
            if found.device_id not in self._devices and found.device_id not in self._ignored:
                self._devices[found.device_id] = _Device(found, facts=facts.of.get(found.device_id, AS_AT_FIRST))
                self._report_found(found)

    def _report_changes(self, device: _Device, before: DeviceFacts, *, always: bool = False) -> None:
        """Report what changed about an admitted device; `always`: report everything."""
        if device.slot is None:
            return
        (device_id, lease), now = device.slot, device.facts
        if always or now.awake is not before.awake:
            self.tell(f"device/{device_id}", AwakeChanged(lease.generation, now.awake))
        if always or now.homed is not before.homed:
            self.tell(f"device/{device_id}", HomedChanged(lease.generation, now.homed))
        if now.fault and now.fault != before.fault:
            fields = {"device": device_id, "port": self._port}
            logger.warning("device %s on %s reports: %s", device_id, self._port, now.fault, extra=fields)
        if now.calibration is not None and now.calibration != before.calibration:
            self.tell(PAIRING, CalibrationEnded(device_id, now.calibration.run, now.calibration.reason))

    def _report_found(self, found: FoundDevice) -> None:
        opened_link = self._opened.find(self._port)
        if opened_link is not None:
            self.tell(DEVICES, DeviceFound(self._port, opened_link.opening, found))

    def _start(self, link: Link) -> None:
        """Exchange data for the devices that have a slot."""
        link.start({link_id: one.slot[1] for link_id, one in self._devices.items() if one.slot is not None})

    # ------------------------------------------------------------ requests to devices

    @handles(ConfigureOverLink)
    def on_configure(self, message: ConfigureOverLink) -> None:
        """Send the configuration to the device."""
        opened_link = self._opened.find(self._port)
        if opened_link is not None and message.link_id in self._devices:
            opened_link.link.configure(message.link_id, message.wide, save=message.save)

    @handles(CalibrateOverLink)
    def on_calibrate(self, message: CalibrateOverLink) -> None:
        """Start or abort a calibration of the device; the facts show its result."""
        opened_link = self._opened.find(self._port)
        if opened_link is not None and message.link_id in self._devices:
            opened_link.link.calibrate(message.link_id, message.run)

    # ------------------------------------------------------------ closing

    @handles(PortBlocked)
    def on_blocked(self, _message: PortBlocked) -> None:
        """Close the link until the port is unblocked."""
        self._close("its port is blocked")

    @handles(PortUnblocked)
    def on_unblocked(self, _message: PortUnblocked) -> None:
        """Try the port again."""
        self._suspended, self._silence_reported = False, False
        self.tell(self.name, TryPort())

    @handles(CloseLink)
    def on_close(self, message: CloseLink) -> None:
        """Close the link and do not open it again."""
        self._suspended = True
        self._close(message.why, on_purpose=message.on_purpose)

    def _close(self, why: str, *, on_purpose: bool = False) -> None:
        """Close the link with zero force, then report it."""
        self._cancel()
        if self._opened.close(self._port):
            self._devices, self._ignored = {}, set()
            self.tell(DEVICES, LinkClosed(self._port, why))
            self.tell(PORTS, PortClosed(self._port, on_purpose))

    def _cancel(self) -> None:
        self.context.timers.cancel((self.name, TryPort))
        for link_id in self._devices:
            self.context.timers.cancel((self.name, link_id))

    # ------------------------------------------------------------ helpers

    def _report_opened(self) -> None:
        """Report the port as open with its first admitted device; a receiver also without one."""
        admitted = [device.slot[0] for device in self._devices.values() if device.slot is not None]
        opened_link = self._opened.find(self._port)
        if opened_link is not None and (admitted or opened_link.link.receiver):
            self.tell(PORTS, PortOpened(self._port, self._candidate.path, admitted[0] if admitted else None))

    def _current(self, opening: int) -> OpenedLink | None:
        """Return the open link if it is opening `opening`, else None."""
        opened_link = self._opened.find(self._port)
        return opened_link if opened_link is not None and opened_link.opening == opening else None

    def _limits(self) -> OpenLimits:
        settings = self._settings.value
        return OpenLimits(
            settings.integer("devices/detection/timeout") / 1000,
            settings.integer("devices/detection/max_number_retry"),
        )

    def _period_s(self) -> float:
        return self._settings.value.integer("devices/detection/period") / 1000


def _named(found: FoundDevice) -> str:
    return f"{found.kind} {found.device_id} (firmware {found.firmware}, {found.driver})"
