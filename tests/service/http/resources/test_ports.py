"""`/ports`: shape of a record, port names in a path; a reset is on the disk before it is answered."""

from __future__ import annotations

import pytest

from actors.kit.errors import HapticError, StateNotWritable
from actors.port import stored_blocks
from actors.port.manager import SECTION, PortManager
from actors.port.messages import LoopBlock, PortStatus, PortTable, Window
from actors.settings.ledger import Ledger
from actors.settings.messages import STORE
from actors.settings.state_directory import StateDirectory
from actors.values.identity import Kind
from tests.service.edge_server import EdgeServer, replace_by_failing

SINCE = "2026-01-01T00:00:00+00:00"
PATH = "/dev/ttyACM0"
BLOCKED = {
    "port": "ttyACM0",
    "path": PATH,
    "state": "blocked",
    "device_id": "049D",
    "loops": 5,
    "blocked_since": SINCE,
    "reason": "connection_loop",
}
ACTIVE = {
    "port": "sim0",
    "path": "sim0",
    "state": "active",
    "device_id": "1605",
    "loops": 2,
    "blocked_since": None,
    "reason": "",
}
FREE = {**BLOCKED, "state": "active", "device_id": None, "loops": 0, "blocked_since": None, "reason": ""}


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    rig.add_device("1605", Kind.GRIP)
    rig.ports.replace(
        PortTable(
            (
                PortStatus("sim0", "sim0", "1605", Window((1, 2))),
                PortStatus("ttyACM0", PATH, "049D", loop_block=LoopBlock(SINCE, 5)),
            )
        )
    )
    return rig


@pytest.fixture
def keeper(rig: EdgeServer) -> EdgeServer:
    """With the actor that resets."""
    rig.start_actor(PortManager.start(rig.context, rig.ports, rig.inventory, rig.state.view))
    return rig


def test_every_port_is_listed(rig: EdgeServer) -> None:
    assert rig.get("/ports").json == {"ports": [ACTIVE, BLOCKED]}
    assert rig.get("/ports?format=json").json == {"ok": True, "error": None, "data": {"ports": [ACTIVE, BLOCKED]}}


@pytest.mark.parametrize("name", ["ttyACM0", "%2Fdev%2FttyACM0", "tty%41CM0"])
def test_a_port_is_named_by_base_name_or_path(rig: EdgeServer, name: str) -> None:
    assert rig.get(f"/ports/{name}").json == BLOCKED


@pytest.mark.parametrize("name", ["ttyACM1", "%2Fdev%2Fttyacm0", "049D", "%00", "*", "x" * 2000])
@pytest.mark.parametrize(("method", "tail"), [("GET", ""), ("POST", "/reset")])
def test_an_unknown_port_is_404_in_one_sentence(keeper: EdgeServer, method: str, tail: str, name: str) -> None:
    reply = keeper.ask(method, f"/ports/{name}{tail}")
    assert reply.status == 404
    assert reply.error.startswith('There is no port "')
    assert len(reply.error) < 200


@pytest.mark.parametrize("raw", [b"", b"not json", b"null", b"[" * 5000])
def test_reset_with_any_body_is_stored_before_the_answer(
    keeper: EdgeServer, folder: StateDirectory, raw: bytes
) -> None:
    reply = keeper.ask("POST", "/ports/%2Fdev%2FttyACM0/reset", raw=raw)
    assert (reply.status, reply.json) == (200, FREE)
    assert stored_blocks.from_json(Ledger.load(folder).section(SECTION)) == PortTable()


def test_a_reset_of_an_active_port_changes_nothing(keeper: EdgeServer) -> None:
    before = keeper.ports.value
    reply = keeper.ask("POST", "/ports/sim0/reset")
    assert (reply.status, reply.json) == (200, ACTIVE)
    assert keeper.ports.value == before


def test_other_methods_are_refused_with_the_allowed_ones(rig: EdgeServer) -> None:
    assert rig.ask("DELETE", "/ports/sim0").headers["allow"] == "GET, HEAD, OPTIONS"
    assert rig.get("/ports/sim0/reset").headers["allow"] == "POST, OPTIONS"


def test_reset_with_a_failed_write_applies_and_says_so(keeper: EdgeServer) -> None:
    error: HapticError = StateNotWritable("/state", "No space left on device")
    replace_by_failing(keeper, STORE, error)
    reply = keeper.ask("POST", "/ports/ttyACM0/reset")
    assert reply.status == 507
    assert reply.error.startswith("Port ttyACM0 is reset, but a restart would forget it.")
    assert keeper.get("/ports/ttyACM0").json == FREE


def test_reset_without_the_port_manager_is_503_and_changes_nothing(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/ports/ttyACM0/reset").status == 503
    assert rig.get("/ports/ttyACM0").json == BLOCKED
