"""Build the OpenAPI description that schemathesis tests, with the constraints that JSON Schema cannot express."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, Self
from urllib.parse import quote

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode
from websockets.sync.client import ClientConnection, connect

from tests.support.clients.exchange import exchange
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem
from tests.support.wire.case_constraints import DEVICES, satisfy_constraints

TIMEOUT_S: Final = 60.0
SEED: Final = 20_260_101
ONE_KEY: Final = "/settings/{key}"
LOOP: Final = "/simulation/loop"
SIMULATED: Final = "/simulation/devices"
PRINTABLE: Final = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=100
).filter(str.isprintable)
FORMATS: Final[dict[str, st.SearchStrategy[str]]] = {
    "printable": PRINTABLE,
    # Two words, of which neither is a type.
    "device-name": st.text(string.ascii_letters, min_size=1, max_size=20).map("the {}".format),
}


class CaseSessions:
    """Context manager: two sessions that are open whenever a case is sent, under ids that stay the same."""

    def __init__(self, service: RunningSystem) -> None:
        self._service = service
        self._open: dict[int, ClientConnection] = {}
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        for _ in range(2):
            self._connect("")
        return self

    def __exit__(self, *_exception: object) -> None:
        self._cleanup.close()

    def reconnect(self) -> None:
        """Connect those again that the service has disconnected."""
        for session_id, connection in list(self._open.items()):
            if connection.close_code is not None or connection.protocol.close_rcvd is not None:
                connection.close()
                eventually(
                    partial(self._left, session_id), "a closed session leaves the list", pause_s=0.002, tries=10_000
                )
                self._connect(f"/?session_id={session_id}")

    def _left(self, session_id: int) -> bool:
        return self._service.ask("GET", f"/sessions/{session_id}").status == 404

    def _connect(self, path: str) -> None:
        # A ping of ours draws from the shared random generator, which hypothesis forbids while it draws a case.
        opened = connect(self._service.ws + path, compression=None, ping_interval=None, open_timeout=TIMEOUT_S)
        connection = self._cleanup.enter_context(opened)
        frame: Any = json.loads(connection.recv(timeout=TIMEOUT_S))
        self._open[frame["session_id"]] = connection


def load_description(base: str) -> Any:
    """The description that a service answers with, in which each setting is an operation of its own: what it takes depends on its key."""
    for name, strategy in FORMATS.items():
        schemathesis.openapi.format(name, strategy)
    reply = exchange(base, "GET", "/openapi.json")
    assert reply.status == 200
    document = reply.json
    template = document["paths"][ONE_KEY].pop("post")
    rest = [one for one in template["parameters"] if one["in"] != "path"]
    for key, value in document["components"]["schemas"]["SettingValues"]["properties"].items():
        body = {"required": True, "content": {"application/json": {"schema": value}}}
        own = {**template, "operationId": f"post_{key}", "parameters": rest, "requestBody": body}
        document["paths"][one_setting(key)] = {"post": own}
    (gone,) = (one for one in document["paths"][f"{SIMULATED}/{{id}}"]["delete"]["parameters"] if one["in"] == "path")
    gone["schema"] = {"enum": [spec.device_id for spec in DEVICES]}
    return schemathesis.openapi.from_dict(document)


def one_setting(key: str) -> str:
    """The path of one setting."""
    return f"/settings/{quote(key, safe='/')}"


def restored(service: RunningSystem, path: str) -> Callable[[], None]:
    """What brings back, after each case of a path, the loop and the devices that later cases are sent to."""
    if path == LOOP:
        return lambda: _done(service, "POST", LOOP, {"ratio": 1})
    if not path.startswith("/simulation/"):
        return lambda: None

    def restore() -> None:
        inventory = service.system.inventory.value
        here = {record.device_id for record in (*inventory.devices, *inventory.unplugged)}
        wanted = {str(spec.device_id): spec for spec in DEVICES}
        for device_id in here - wanted.keys():
            _done(service, "DELETE", f"{SIMULATED}/{device_id}")
        for device_id, spec in wanted.items():
            if device_id not in here:
                told = {"type": spec.kind, "connection": spec.connection, "device_id": device_id}
                _done(service, "POST", SIMULATED, told)
            whole = {"fault": "none"} if spec.kind.has_motors else {"fault": "none", "attached": True}
            _done(service, "POST", f"/simulation/{spec.kind}/{device_id}", whole)

    return restore


def _done(service: RunningSystem, method: str, path: str, body: object = None) -> None:
    reply = service.ask(method, path, body)
    assert reply.status == 200, reply.body


def play(operation: Any, mode: GenerationMode, count: int, send: Callable[[Any], None]) -> int:
    """Send `count` cases, the same at every start, and say how many there were; valid ones are made exact first."""
    if count == 0:
        return 0
    sent = 0
    strategy = operation.as_strategy(generation_mode=mode)

    @seed(SEED)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
    )
    @given(
        case=strategy.map(satisfy_constraints) if mode is GenerationMode.POSITIVE else strategy.filter(has_no_pattern)
    )
    def run(case: Any) -> None:
        nonlocal sent
        sent += 1
        send(case)

    run()
    return sent


def has_no_pattern(case: Any) -> bool:
    """Whether no part of the path happens to be a pattern: what it matches, and be it nothing, is a right answer."""
    return not any(sign in str(part) for part in (case.path_parameters or {}).values() for sign in "*?")
