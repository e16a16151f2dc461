"""Recorded messages of public clients; kept outside the repository, tests skip without them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.raw_websocket import BINARY, TEXT
from tests.support.wire.wire_variants import Object

FOLDER: Final = Path(__file__).parents[4] / "shared" / "fixtures"
REQUESTS: Final = FOLDER / "client_requests" / "requests.jsonl"
OPCODES: Final = {"text": TEXT, "binary": BINARY}

DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "049D"),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "04EA"),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "0699"),
    SimulatedSpec(Kind.GRIP, Connection.WIRED, "1605"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "61576"),
)
"""The devices that these clients talk to, but for 05DA, which nobody has."""

GROUPS: Final = {
    "inverse3": ("049D", "04EA", "0699"),
    "verse_grip": ("1605",),
    "wireless_verse_grip": ("61576",),
    "custom_verse_grip": (),
}


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """One message of one client, with its own opcode."""

    client: str
    opcode: int
    message: Object

    @property
    def text(self) -> str:
        """The message as JSON."""
        return json.dumps(self.message)

    @property
    def errors(self) -> list[str]:
        """Paths of what we do not have: the device 05DA, and a command that is a route elsewhere."""
        found: list[str] = []
        for index, entry in enumerate(self.message.get("inverse3", [])):
            if entry["device_id"] == "05DA":
                found.append(f"inverse3[{index}].device_id")
            elif "set_gravity_compensation" in entry["commands"]:
                found.append(f"inverse3[{index}].commands.set_gravity_compensation")
        return found

    @property
    def full(self) -> frozenset[str]:
        """The devices whose config the answer must have."""
        full: Any = self.message.get("session", {}).get("force_render_full_state")
        if full is None:
            return frozenset()
        return frozenset(device_id for group in full.get("device_types", GROUPS) for device_id in GROUPS[group])


def read_requests() -> list[ClientRequest]:
    """Every request, in the order of the file; skips the test where there is none."""
    if not REQUESTS.is_file():
        pytest.skip("the recorded requests of public clients are not on this machine")
    lines = [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [ClientRequest(line["client"], OPCODES[line["opcode"]], line["message"]) for line in lines]


def read_real(name: str) -> Object:
    """A frame's part as a public service sent it; skips the test where there is none."""
    path = FOLDER / "real" / f"{name}.json"
    if not path.is_file():
        pytest.skip("the recorded frames of public services are not on this machine")
    found: Object = json.loads(path.read_text(encoding="utf-8"))
    return found
