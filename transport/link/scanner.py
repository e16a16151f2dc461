"""Lists the ports of this machine for Detection, and opens each through the driver that listed it.

A port that several drivers list belongs to the first of them.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from actors.port.api import ENABLED, Link, NoDeviceAnswers, OpenLimits, PortUnusable
from actors.values.hardware import Candidate, PortFault, Transport
from transport.link import udev_rules
from transport.link.device_nodes import change_token, node_of
from transport.link.driver_spec import Driver, DriverContext, DriverSpec, UnsupportedIds
from transport.link.drivers import DRIVERS, driver_settings
from transport.link.serial_ports import named_apart
from transport.link.usb_bus import UsbBus

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.settings.api import SettingsView
    from fastpath.arena.runtime import Runtime
    from fastpath.port.port_thread import Failsafe

logger = logging.getLogger(__name__)


def make_scanner(
    runtime: Runtime,
    settings: Published[SettingsView],
    failsafe: Failsafe | None = None,
    drivers: Iterable[DriverSpec] = DRIVERS,
) -> PortScanner:
    """Return the scanner of this machine's ports with all registered drivers."""
    specs = tuple(drivers)
    unsupported = UnsupportedIds(specs)
    context = DriverContext(runtime, settings, failsafe, UsbBus(), unsupported)
    setting_keys = [row.key for row in driver_settings(specs)]
    return PortScanner(settings, [spec.make(context) for spec in specs], unsupported, setting_keys)


class PortScanner:
    """Ports of all drivers whose transport is enabled; see `actors.port.link_interface.Links`."""

    def __init__(
        self,
        settings: Published[SettingsView],
        drivers: Iterable[Driver],
        unsupported: UnsupportedIds,
        setting_keys: Iterable[str] = (),
    ) -> None:
        """`setting_keys` are the settings of the drivers: a change of one calls for a scan."""
        self.setting_keys = frozenset(setting_keys)
        self._settings = settings
        self._drivers = tuple(drivers)
        self._unsupported = unsupported
        self._owners: dict[str, Driver] = {}  # by real path, of the last scan
        # Paths at which a node was ever seen: one that is listed there without its node went during the scan.
        self._paths_with_node: set[str] = set()
        self._listed: dict[Driver, tuple[Candidate, ...]] = {}  # of the last scan that did not fail
        self._errors: dict[Driver, str] = {}  # logged, and not over yet

    def scan(self) -> tuple[Candidate, ...]:
        """List the candidates of all drivers, each path once, without those whose node went during the scan."""
        settings, by_path, owners = self._settings.value, dict[str, Candidate](), dict[str, Driver]()
        for driver in self._drivers:
            if not settings.flag(ENABLED[driver.transport]):
                continue
            for candidate in self._candidates(driver):
                real, node = os.path.realpath(candidate.path), node_of(candidate.path)
                if real in owners or (not node and candidate.path in self._paths_with_node):
                    continue
                if node:
                    self._paths_with_node.add(candidate.path)
                by_path[real], owners[real] = replace(candidate, node=node), driver
        self._owners = owners
        return named_apart(by_path.values())

    def _candidates(self, driver: Driver) -> tuple[Candidate, ...]:
        """Return the driver's candidates; if it cannot list them, log it once and return those of the scan before."""
        try:
            self._listed[driver] = tuple(driver.candidates())
            self._errors.pop(driver, None)
        except OSError as error:  # what the system refuses (descriptors, permissions) is no fault of the driver
            if self._is_new(driver, error):
                logger.error("the ports of %s cannot be listed: %s", type(driver).__name__, error)  # noqa: TRY400
        except Exception as error:
            if self._is_new(driver, error):
                logger.exception("the ports of %s cannot be listed", type(driver).__name__)
        return self._listed.get(driver, ())

    def _is_new(self, driver: Driver, error: Exception) -> bool:
        """Keep the driver's error; return whether it is another than that of the last scan."""
        text = repr(error)
        was, self._errors[driver] = self._errors.get(driver), text
        return was != text

    def change_token(self) -> object:
        """Return a value that differs after a node came or went in a device folder or at a path that a setting names."""
        return change_token([path for driver in self._drivers for path in driver.named_paths()])

    def taker(self, candidate: Candidate) -> str:
        """Return what takes a serial port away soon after it came, with the cure; "" for any other port."""
        return udev_rules.taker(candidate.vendor_id) if candidate.transport is Transport.SERIAL else ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Open a port through its driver: PortUnusable, NoDeviceAnswers.

        An unsupported device is refused without opening it; a device plugged in since the last scan answers NoDeviceAnswers.
        """
        unsupported = self._unsupported.find(candidate.vendor_id, candidate.product_id)
        if unsupported is not None and not candidate.assigned:
            raise PortUnusable(PortFault.NO_DRIVER, unsupported.reason)
        driver = self._owners.get(os.path.realpath(candidate.path))
        if driver is None or candidate.node not in ("", node_of(candidate.path)):
            raise NoDeviceAnswers("it is not there any more")
        try:
            return driver.open(candidate, limits, stop)
        except OSError as error:
            raise open_error(error, candidate.path) from error


def open_error(error: OSError, path: str) -> PortUnusable | NoDeviceAnswers:
    """Return the error for an OSError at opening a port, with a sentence that says what to do."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return PortUnusable(
            PortFault.PERMISSION,
            f"this user may not open {path}: add the user to the group dialout (sudo usermod -aG dialout $USER, then log in "
            "again), or install the udev rules of ops/udev",
        )
    if error.errno in (errno.EBUSY, errno.EAGAIN):
        return PortUnusable(PortFault.IN_USE, f"another program holds {path}: end it, lsof {path} names it")
    return NoDeviceAnswers(f"it cannot be opened ({error})")
