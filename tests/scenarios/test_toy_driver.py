"""The example driver in a running service: a new serial protocol needs its own files and one registry row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from actors.kit.published import Published
from actors.settings.effective import load_settings
from fastpath.arena.runtime import Runtime
from tests.emulators.pty_port import PtyPort
from tests.support.clients.exchange import exchange
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.toy_driver.spec import PORTS, TILT
from transport.link.driver_spec import UnsupportedIds
from transport.link.drivers import DRIVERS, driver_settings
from transport.link.scanner import make_scanner
from transport.settings_catalog import SETTINGS_CATALOG
from transport.settings_reference import page

WITH_TILT = (*DRIVERS, TILT)
CATALOG_WITH_TILT = SETTINGS_CATALOG.extended(driver_settings([TILT]))
ABOUT_X = {"w": 0, "x": 1, "y": 0, "z": 0}
FAST = {"control/frequency": 1000, "devices/detection/period": 100}


class EmulatedSensor:
    """A tilt sensor, turned by 180 degrees about x, with its first button pressed."""

    def feed(self, data: bytes) -> bytes:
        answers = {b"?": b"tilt 20A7\n", b"p": b"0 1 0 0 1\n"}
        return b"".join(answers.get(line, b"") for line in data.split(b"\n"))

    def advance(self, seconds: float) -> None:
        """It does not move."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[InProcessService]:
    with ExitStack() as stack:
        port = stack.enter_context(PtyPort(EmulatedSensor(), link=tmp_path / "tilt0"))
        stack.enter_context(patch("tests.support.service.in_process_service.SETTINGS_CATALOG", CATALOG_WITH_TILT))
        yield stack.enter_context(
            InProcessService(
                tmp_path / "state",
                simulated=(),
                settings={**FAST, PORTS: port.path},
                links=partial(make_scanner, drivers=WITH_TILT),
                settled=False,
            )
        )


def test_device_of_a_new_serial_protocol_is_shown_with_its_orientation_and_button(service: InProcessService) -> None:
    def shown() -> bool:
        pens = exchange(service.http, "GET", "/devices").json.get("pen", [])
        states = [pen["state"] for pen in pens if pen["device_id"] == "20A7"]
        return [(state["orientation"], state["button"]) for state in states] == [(ABOUT_X, True)]

    eventually(shown, "the sensor's orientation in the device list", pause_s=0.02)


def test_setting_of_a_new_driver_is_read_over_http(service: InProcessService) -> None:
    answer = exchange(service.http, "GET", f"/settings/{PORTS}")

    assert (answer.status, answer.json["data"]["type_hint"]) == (200, "ARR_STRING")


def test_settings_of_a_driver_stand_behind_the_rows_of_their_section() -> None:
    keys = [setting.key for setting in CATALOG_WITH_TILT if setting.section == "devices"]

    assert keys[-1] == PORTS
    assert f"| `{PORTS}` |" in page(CATALOG_WITH_TILT)


def test_change_of_a_setting_of_a_new_driver_calls_for_a_scan() -> None:
    settings = Published(load_settings(CATALOG_WITH_TILT, {}, {})[0].view())

    scanner = make_scanner(Runtime(realtime=False, stepping=True), settings, drivers=WITH_TILT)

    assert scanner.setting_keys >= {PORTS, "devices/hapi/ports", "devices/falcon/firmware_image"}


def test_unsupported_ids_of_a_new_driver_are_known() -> None:
    row = UnsupportedIds(WITH_TILT).find(0x1209, 0xFFFE)

    assert row is not None
    assert row.reason == "recognised as a tilt sensor of the closed series"
