"""Sentences of the service that name routes, as the command line prints them."""

from __future__ import annotations

import pytest

from transport.cli.commands_for_routes import with_commands


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("There is no device: GET /devices lists those.", "There is no device: hapticd devices lists those."),
        ("GET /settings?advanced=true lists all keys.", "hapticd settings get --advanced lists all keys."),
        ("check the cable, then POST /ports/ttyACM0/reset.", "check the cable, then hapticd reset ttyACM0."),
        ("every device is stopped until DELETE /stop", "every device is stopped until hapticd resume"),
        ("first DELETE /arm/46C6/stop, please", "first hapticd resume 46C6, please"),
        ("wait for POST /{device}/{id}/resume before", "wait for hapticd resume DEVICE before"),
        ("B: DELETE /…/A001/config/paired_with first.", "B: hapticd pair A001 --dissolve first."),
        ("POST /simulation/loop with ratio 1", "POST /simulation/loop with ratio 1"),
        ("see GET /devices/x and BUDGET /devices", "see GET /devices/x and BUDGET /devices"),
        ("", ""),
    ],
)
def test_route_becomes_the_command_that_does_the_same(said: str, shown: str) -> None:
    assert with_commands(said) == shown
