"""Access policy over real sockets: hosts and origins on every route, peers of other machines, request rates."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from ipaddress import IPv4Network
from urllib.parse import urlsplit

import pytest

from tests.support.clients.raw_websocket import connect_tcp, handshake_request, read_status
from tests.support.service.in_process_service import InProcessService
from transport.http.app import HTTP_ROUTES
from transport.limits import RequestRate

FOREIGN = "https://evil.example"
FRIEND = "https://friend.example"
RATE = 20
# Addresses that belong to nobody's network (RFC 2544).
BENCHMARKING = IPv4Network("198.18.0.0/15")
OPEN = {
    "communication/bind_all_interfaces": "true",
    "communication/allowed_origins": json.dumps([FRIEND]),
    "control/frequency": 1000,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    folder = tmp_path_factory.mktemp("state")
    with InProcessService(folder, settings=OPEN) as running:
        yield running


@pytest.fixture
def token(service: InProcessService) -> str:
    return service.token


def ask(
    url: str, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> tuple[int, dict[str, str]]:
    """Status and headers of one exchange."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        answer.read()
        return answer.status, dict(answer.getheaders())
    finally:
        connection.close()


def upgrade(url: str, *headers: str, query: Mapping[str, object] | None = None) -> int:
    """The status of a handshake."""
    opened = connect_tcp(url)
    with opened, opened.makefile("rb") as answer:
        opened.sendall(handshake_request(url, query, headers))
        return read_status(answer.readline())


# ---------------------------------------------------------------- pages of a browser


def paths() -> list[tuple[str, str]]:
    """Every route, with something in each segment that its shape names."""
    words = {"{device}": "arm", "{id}": "0", "{session}": "*", "{key...}": "simulation/seed"}
    found: list[tuple[str, str]] = []
    for route in HTTP_ROUTES:
        parts = [words.get(part, part if not part.startswith("{") else "x") for part in route.shape.split("/")]
        found.append((route.method, "/".join(parts)))
    return found


def test_foreign_origin_is_refused_on_every_route_but_health(service: InProcessService) -> None:
    for method, path in paths():
        told = path in {"/healthz", "/readyz"}
        for origin in (FOREIGN, "null", "https://127.0.0.1.evil.example"):
            status, headers = ask(service.http, method, path, {"Origin": origin})
            assert (status == 403) is not told, (method, path, origin)
            assert "Access-Control-Allow-Origin" not in headers
        assert (ask(service.http, method, path, {"Sec-Fetch-Site": "cross-site"})[0] == 403) is not told


@pytest.mark.parametrize("path", ["/3.0/healthz", "/3.1/readyz/", "/healthz?format=json"])
def test_health_answers_any_origin_under_every_spelling_of_its_path(service: InProcessService, path: str) -> None:
    assert ask(service.http, "GET", path, {"Origin": FOREIGN})[0] == 200


def test_browser_navigation_without_origin_is_allowed(service: InProcessService) -> None:
    for site in ("none", "same-origin", "same-site"):
        assert ask(service.http, "GET", "/version", {"Sec-Fetch-Site": site})[0] == 200


def test_foreign_host_is_refused_on_every_route(service: InProcessService) -> None:
    for method, path in paths():
        assert ask(service.http, method, path, {"Host": "rebound.example"})[0] == 403, (method, path)


def test_client_without_origin_may_change_state(service: InProcessService) -> None:
    assert ask(service.http, "POST", "/stop")[0] == 200
    assert ask(service.http, "DELETE", "/stop")[0] == 200


LOCAL = "http://localhost:3000"
PREFLIGHT = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": "content-type"}


@pytest.mark.parametrize("origin", [FRIEND, LOCAL, "http://127.0.0.1:8080", "http://[::1]:5173"])
def test_allowed_origins_may_change_state_and_read_every_answer(service: InProcessService, origin: str) -> None:
    exchanges = [
        ("DELETE", "/stop", 200),
        ("GET", "/version", 200),
        ("OPTIONS", "/stop", 200),
        ("OPTIONS", "/settings/simulation/seed", 200),
        ("GET", "/none", 404),
        ("GET", "/arm/none", 404),
        ("POST", "/settings/simulation/seed", 400),
        ("PUT", "/stop", 405),
    ]
    for method, path, wanted in exchanges:
        status, headers = ask(service.http, method, path, {"Origin": origin, "Sec-Fetch-Site": "cross-site"})
        assert status == wanted
        assert headers["Access-Control-Allow-Origin"] == origin
        assert headers["Vary"] == "Origin"
        assert headers["Access-Control-Allow-Headers"] == "Content-Type, Authorization"
        assert "OPTIONS" in headers["Access-Control-Allow-Methods"]
        assert "Retry-After" in headers["Access-Control-Expose-Headers"]
        assert "Access-Control-Max-Age" not in headers


@pytest.mark.parametrize("path", ["/stop", "/settings/simulation/seed", "/none", "/arm/none/config/mount"])
def test_preflight_of_an_allowed_origin_is_200_for_any_path(service: InProcessService, path: str) -> None:
    for origin in (FRIEND, LOCAL):
        status, headers = ask(service.http, "OPTIONS", path, {"Origin": origin, **PREFLIGHT})
        assert status == 200
        assert headers["Access-Control-Allow-Origin"] == origin
        assert {"GET", "POST", "PATCH", "DELETE"} <= set(headers["Access-Control-Allow-Methods"].split(", "))
        assert headers["Access-Control-Max-Age"] == "600"
        assert "Access-Control-Allow-Private-Network" not in headers


def test_private_network_access_is_granted_to_allowed_origins_that_request_it(service: InProcessService) -> None:
    asks = {**PREFLIGHT, "Access-Control-Request-Private-Network": "true"}

    allowed = ask(service.http, "OPTIONS", "/stop", {"Origin": FRIEND, **asks})
    foreign = ask(service.http, "OPTIONS", "/stop", {"Origin": FOREIGN, **asks})

    assert allowed[1]["Access-Control-Allow-Private-Network"] == "true"
    assert foreign[0] == 403
    assert not [name for name in foreign[1] if name.startswith("Access-Control")]


def test_every_answer_has_vary_origin(service: InProcessService) -> None:
    assert ask(service.http, "GET", "/version")[1]["Vary"] == "Origin"
    assert ask(service.http, "GET", "/version", {"Origin": FOREIGN})[1]["Vary"] == "Origin"


@pytest.mark.parametrize("channel", ["ws", "ws_v30", "events"])
def test_foreign_origins_and_hosts_open_no_websocket(service: InProcessService, channel: str) -> None:
    url = str(getattr(service, channel))

    assert upgrade(url, f"Origin: {FOREIGN}") == 403
    assert upgrade(url, "Origin: null") == 403
    assert upgrade(url.replace("127.0.0.1", "localhost")) == 101
    assert upgrade(url, f"Origin: {FRIEND}") == 101
    assert upgrade(url) == 101
    opened = connect_tcp(url)
    with opened, opened.makefile("rb") as answer:
        opened.sendall(handshake_request(url).replace(b"Host: 127.0.0.1", b"Host: rebound.example"))
        assert read_status(answer.readline()) == 403
    service.wait_for_sessions()


# ---------------------------------------------------------------- peers that are not loopback


@pytest.fixture(scope="module")
def away() -> Iterator[tuple[str, tuple[str, ...]]]:
    """An address of this machine that another network reaches, and the command prefix that runs a program there."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        pytest.skip("a second network namespace needs Linux and the program ip")
    name = f"hd{os.getpid()}"
    here, there = f"{name}a", f"{name}b"
    # Networks of four addresses out of 198.18.0.0/15: another run's, or what a killed one left behind, is not in the way.
    network = BENCHMARKING[os.getpid() * 4 % BENCHMARKING.num_addresses]
    inside, outside = network + 1, network + 2
    steps = (
        f"ip netns add {name}",
        f"ip link add {here} type veth peer name {there} netns {name}",
        f"ip addr add {inside}/30 dev {here}",
        f"ip link set {here} up",
        f"ip -n {name} addr add {outside}/30 dev {there}",
        f"ip -n {name} link set {there} up",
    )
    with ExitStack() as undo:
        undo.callback(subprocess.run, ["ip", "netns", "del", name], check=False, capture_output=True)
        undo.callback(subprocess.run, ["ip", "link", "del", here], check=False, capture_output=True)
        for step in steps:
            done = subprocess.run(step.split(), check=False, capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"this machine allows no second network namespace: {step}: {done.stderr.strip()}")
        yield str(inside), ("ip", "netns", "exec", name)


CLIENT = """
import http.client, json, sys
host, port, calls = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
found = []
for method, path, headers in calls:
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    if answer.status != 101:
        answer.read()
    found.append(answer.status)
    connection.close()
print(json.dumps(found))
"""
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def from_away(away: tuple[str, tuple[str, ...]], port: int, calls: list[tuple[str, str, dict[str, str]]]) -> list[int]:
    """The statuses of calls out of the other network."""
    address, prefix = away
    command = [*prefix, sys.executable, "-c", CLIENT, address, str(port), json.dumps(calls)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return [int(status) for status in json.loads(done.stdout)]


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def test_remote_peer_without_token_is_refused_everywhere(
    service: InProcessService, away: tuple[str, tuple[str, ...]], token: str
) -> None:
    right, wrong = {"Authorization": f"Bearer {token}"}, {"Authorization": f"Bearer {token}x"}
    calls: list[tuple[str, str, dict[str, str]]] = [
        ("GET", "/devices", {}),
        ("GET", "/devices", wrong),
        ("GET", f"/devices?token={token[:-1]}", {}),
        ("POST", "/stop", {}),
        ("GET", "/", UPGRADE),
        ("GET", "/devices", right),
        ("GET", f"/devices?token={token}", {}),
        ("GET", "/", {**UPGRADE, **right}),
        ("GET", f"/?token={token}", UPGRADE),
        ("GET", "/devices", {**right, "Host": "rebound.example"}),
    ]

    assert from_away(away, port_of(service.http), calls) == [401] * 5 + [200, 200, 101, 101, 403]
    events = [("GET", "/", UPGRADE), ("GET", "/", {**UPGRADE, **right})]
    assert from_away(away, port_of(service.events), events) == [401, 101]
    service.wait_for_sessions()


def test_remote_peer_rate_limit_counts_all_ports_together(
    service: InProcessService, away: tuple[str, tuple[str, ...]], token: str
) -> None:
    right = {"Authorization": f"Bearer {token}"}

    admission = service.listeners.admission
    admission.rate = RequestRate(RATE, 10, lambda: 0)

    calls: list[tuple[str, str, dict[str, str]]] = [("GET", "/version", right)] * (RATE // 2)
    assert from_away(away, port_of(service.http), calls) == [200] * (RATE // 2)
    opening = [("GET", "/", {**UPGRADE, **right})] * (RATE // 2 + 2)
    assert from_away(away, port_of(service.ws), opening) == [101] * (RATE // 2) + [429] * 2
    assert from_away(away, port_of(service.events), opening[:2]) == [429] * 2
    assert ask(service.http, "GET", "/version")[0] == 200
    assert upgrade(service.ws) == 101
    service.wait_for_sessions()
