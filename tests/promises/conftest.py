"""One running service with five simulated devices for all promise tests; each test restores what it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, TypeAlias

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import PromiseSession
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.extra_devices import extra_device
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

DEVICES: Final = "arm,compact,grip,grip:wired,pen"
FAST: Final = {"simulation/settle_time": 0.05}
# An ordinary rate leaves the processors to the tests; posted, so that tests may change it.
CALM: Final = {"control/frequency": 1000}
# Stiffness of a simulated hand that nobody has changed, N/m.
STIFFNESS: Final = 150
CENTRES: Final = {"arm": (0, -0.12, 0.135), "compact": (0, -0.085, 0.1)}

Join: TypeAlias = Callable[..., tuple[RawWebSocket, Any]]
ClientOf: TypeAlias = Callable[..., PromiseSession]
Plug: TypeAlias = Callable[..., str]
StartService: TypeAlias = Callable[..., RunningService]


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    """The shared service. A test that plugs, unplugs, pairs, blocks or restarts takes `start_service` instead."""
    with RunningService(simulate=DEVICES, settings=FAST) as running:
        assert running.request("POST", "/settings", CALM)[0] == 200
        eventually(lambda: running.request("GET", "/readyz")[0] == 200, "every device is ready", pause_s=0.01)
        restore(running)
        yield running


@pytest.fixture
def start_service() -> Iterator[StartService]:
    """Start a service of this test's own: `start_service(simulate, **RunningService arguments)`; stopped after the test."""
    with ExitStack() as running:

        def start(simulate: str = DEVICES, **arguments: Any) -> RunningService:
            settings = {**CALM, **FAST, **arguments.pop("settings", {})}
            return running.enter_context(RunningService(simulate=simulate, settings=settings, **arguments))

        yield start


@pytest.fixture(scope="session")
def empty_service() -> Iterator[RunningService]:
    """A shared service without devices, for tests that add some with `plug`."""
    with RunningService(simulate="", settings={**FAST}) as running:
        assert running.request("POST", "/settings", CALM)[0] == 200
        yield running


@pytest.fixture
def plug(empty_service: RunningService) -> Iterator[Plug]:
    """Add a simulated device to `empty_service`, `plug(type, device_id, **spec)`: its id, once it is ready. Removed after the test."""
    with ExitStack() as devices:

        def add(device_type: str, device_id: str, **spec: object) -> str:
            added = extra_device(HttpClient(empty_service.http), device_type, device_id, **spec)
            return devices.enter_context(added)

        yield add


@pytest.fixture
def http(service: RunningService) -> HttpClient:
    return HttpClient(service.http)


@pytest.fixture
def join(service: RunningService) -> Iterator[Join]:
    """Connect a client, `join(url or None, **query)`: it and its first frame. All are closed after the test."""
    with ExitStack() as peers:

        def begin(url: str | None = None, **query: object) -> tuple[RawWebSocket, Any]:
            peer = peers.enter_context(RawWebSocket(url or service.ws, query))
            return peer, peer.frame()

        yield begin


@pytest.fixture
def client(join: Join) -> RawWebSocket:
    """A client that has read its first frame."""
    return join()[0]


@pytest.fixture
def session(client_of: ClientOf) -> PromiseSession:
    """A client with its devices."""
    return client_of()


@pytest.fixture
def client_of(service: RunningService) -> Iterator[ClientOf]:
    """Connect one more client with its devices: `client_of(url or None, **query)`."""
    with ExitStack() as peers:

        def connect(url: str | None = None, **query: str) -> PromiseSession:
            return PromiseSession(peers.enter_context(RawWebSocket(url or service.ws, query)))

        yield connect


@pytest.fixture
def events(service: RunningService) -> Iterator[EventClient]:
    """A subscriber of the event channel, connected before the test begins."""
    with EventClient(service.events) as listener:
        yield listener


@pytest.fixture(scope="session")
def found(service: RunningService) -> Any:
    """Configuration of every device, device space, as the shared service started."""
    return configurations(service)


@pytest.fixture(autouse=True)
def as_found(request: pytest.FixtureRequest) -> Iterator[None]:
    """Undo what a test did to the shared service; AssertionError when the devices are not as before."""
    # Whether this test uses it decides: a test with a service of its own does not start the shared one.
    if "service" not in request.fixturenames:
        yield
        return
    service: RunningService = request.getfixturevalue("service")
    before = request.getfixturevalue("found")
    yield
    eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "no session", pause_s=0.005)
    restore(service)
    assert configurations(service) == before


def configurations(service: RunningService) -> dict[str, Any]:
    """`config` of every device by id."""
    status, groups = service.request("GET", "/devices")
    assert status == 200, groups
    return {entry["device_id"]: entry["config"] for group in groups.values() for entry in group}


def restore(service: RunningService) -> None:
    """Settings, start values, device-wide values, hands and the stop as they were when the shared service started."""
    status, answer = service.request("GET", "/settings?advanced=true")
    assert status == 200, answer
    for key, record in answer["data"].items():
        wanted = CALM.get(key, record["default"])
        if record["value"] != wanted:
            assert service.request("POST", f"/settings/{key}", {"value": wanted})[0] == 200, key
    for area in ("handedness", "torque_scaling", "gravity_compensation", "home_return"):
        assert service.request("DELETE", f"/haptic*/*/config/{area}")[0] == 200, area
    assert service.request("DELETE", "/stop")[0] == 200
    for device in ("arm", "compact"):
        place = dict(zip("xyz", CENTRES[device], strict=True))
        calm = {"fault": "none", "hand": {"path": "hold", "position": place, "stiffness": STIFFNESS}}
        assert service.request("POST", f"/simulation/{device}/0", calm)[0] == 200, device
        eventually(partial(rests, service, device), f"the {device} rests", pause_s=0.005)


def rests(service: RunningService, device: str) -> bool:
    """Whether the simulated hand has brought the device to the centre of its reach, where it stands."""
    state = service.request("GET", f"/{device}/0")[1]["state"]
    place, velocity = (list(state[field].values()) for field in ("cursor_position", "cursor_velocity"))
    return max(map(abs, velocity)) < 0.01 and all(
        abs(now - centre) < 0.005 for now, centre in zip(place, CENTRES[device], strict=True)
    )
