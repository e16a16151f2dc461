"""The listening ports: which open where, what each serves, the ready line, and failures to open one."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketHandler, websocket_connect

from actors.settings.sources import COMMAND_LINE, Override
from actors.settings.state_directory import StateDirectory
from tests.service.edge_server import BUILD, TOKEN, EdgeServer
from tests.support.service.addresses import parse_ready
from transport import listeners
from transport.listeners import (
    EVENTS_PORT,
    HTTP_PORT,
    LEGACY_PORT,
    NEWEST_PORT,
    CannotListen,
    Listeners,
    PortInUse,
    addresses,
    wanted_ports,
)

FREE: Mapping[str, object] = {NEWEST_PORT: 0, LEGACY_PORT: 0, EVENTS_PORT: 0}


class Greeting(WebSocketHandler):
    def initialize(self, bridge: object, version: str, query: Mapping[str, str]) -> None:
        del query
        self.bridge = bridge
        self.version = version

    def check_origin(self, origin: str) -> bool:
        del origin
        return True

    def open(self, *_args: str, **_kwargs: str) -> None:
        self.write_message(self.version)


def make(folder: StateDirectory, settings: Mapping[str, Any]) -> Listeners:
    """Listeners over a rig that is not started: only its doubles are used."""
    overrides = {key: Override(value, COMMAND_LINE) for key, value in settings.items()}
    return Listeners(EdgeServer(folder, overrides).bridge, Greeting, BUILD, lambda: TOKEN)


@contextlib.asynccontextmanager
async def listening(folder: StateDirectory, settings: Mapping[str, Any]) -> AsyncGenerator[str]:
    """The ready words of open listeners."""
    made = make(folder, settings)
    words = made.open()
    try:
        yield words
    finally:
        made.close()
        await made.drained()


async def get(url: str) -> tuple[int, bytes]:
    request = HTTPRequest(url, headers={"Connection": "close"}, request_timeout=20)
    answer = await AsyncHTTPClient(force_instance=True).fetch(request, raise_error=False)
    return answer.code, answer.body


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@contextlib.contextmanager
def taken(host: str = "127.0.0.1") -> Any:
    """A port on which somebody else listens."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as other:
        yield int(other.getsockname()[1])


# ---------------------------------------------------------------- what is served where


def test_every_port_serves_its_purpose(folder: StateDirectory) -> None:
    async def work() -> None:
        async with listening(folder, {**FREE, HTTP_PORT: 0}) as words:
            at = parse_ready(words)
            assert at.http.partition("://")[2] == at.ws.partition("://")[2]
            extra = words.rpartition(" ")[2]
            assert len({port_of(url) for url in (at.ws, at.ws_v30, at.events, extra)}) == 4

            for url in (at.http, at.ws_v30.replace("ws", "http", 1), extra):
                status, body = await get(f"{url}/version")
                assert (status, b"hapticd" in body) == (200, True)
            assert (await get(at.events.replace("ws", "http", 1) + "/version"))[0] == 404

            for url, version in ((at.ws, "3.1"), (at.ws_v30, "3.0"), (f"{at.ws}/3.0", "3.0")):
                connection = await websocket_connect(url, connect_timeout=20)
                assert await connection.read_message() == version
                connection.close()
                assert await connection.read_message() is None
            status, body = await get(extra)
            assert (status, b"hapticd" in body) == (200, True)

    run(work)


def test_ready_line_has_the_urls(folder: StateDirectory) -> None:
    async def work() -> None:
        async with listening(folder, FREE) as words:
            at = parse_ready(words)
            assert words == f"{at.http} {at.ws} {at.ws_v30} (v3.0) {at.events} (events)"
            assert at.http.startswith("http://127.0.0.1:")

    run(work)


def test_listens_on_both_loopback_addresses(folder: StateDirectory) -> None:
    async def work() -> None:
        async with listening(folder, FREE) as words:
            port = port_of(parse_ready(words).http)
            for host in ("127.0.0.1", "[::1]") if has_ipv6() else ("127.0.0.1",):
                assert (await get(f"http://{host}:{port}/version"))[0] == 200

    run(work)


def test_bind_address_is_exclusive(folder: StateDirectory) -> None:
    async def work() -> None:
        async with listening(folder, {**FREE, "communication/bind_address": "127.0.0.2"}) as words:
            assert parse_ready(words).http.startswith("http://127.0.0.2:")
            assert (await get(parse_ready(words).http + "/version"))[0] == 200
            with pytest.raises(ConnectionRefusedError):
                await get(f"http://127.0.0.1:{port_of(parse_ready(words).http)}/version")

    run(work)


def test_all_interfaces_are_shown_as_loopback_url(folder: StateDirectory) -> None:
    settings = {**FREE, "communication/bind_all_interfaces": True, "communication/bind_address": "127.0.0.2"}

    async def work() -> None:
        async with listening(folder, settings) as words:
            assert parse_ready(words).http.startswith("http://127.0.0.1:")
            port = port_of(parse_ready(words).http)
            assert (await get(f"http://127.0.0.3:{port}/version"))[0] == 200

    run(work)


@pytest.mark.skipif("not has_ipv6()", reason="no IPv6 on this machine")
def test_an_ipv6_address_stands_in_brackets(folder: StateDirectory) -> None:
    async def work() -> None:
        async with listening(folder, {**FREE, "communication/bind_address": "::1"}) as words:
            assert words.startswith("http://[::1]:")
            assert (await get(words.split(" ")[0] + "/version"))[0] == 200

    run(work)


def test_access_rules_have_the_open_ports(folder: StateDirectory) -> None:
    async def work() -> None:
        made = make(folder, FREE)
        words = made.open()
        assert made._edge.access.rules.ports == {
            port_of(url) for url in (parse_ready(words).ws, parse_ready(words).ws_v30, parse_ready(words).events)
        }
        made.close()

    run(work)


def test_no_connection_is_accepted_after_close(folder: StateDirectory) -> None:
    async def work() -> None:
        made = make(folder, FREE)
        url = parse_ready(made.open()).http
        made.close()
        with pytest.raises(ConnectionRefusedError):
            await get(url)
        made.close()

    run(work)


# ---------------------------------------------------------------- which ports and addresses


def ports(folder: StateDirectory, settings: Mapping[str, Any]) -> dict[str, int]:
    return dict(wanted_ports(make(folder, settings)._bridge.settings))


def test_ports_are_those_of_the_contract(folder: StateDirectory) -> None:
    assert ports(folder, {}) == {NEWEST_PORT: 10001, LEGACY_PORT: 10000, EVENTS_PORT: 10020}


@pytest.mark.parametrize(("extra", "opened"), [(None, False), (8080, True), (10001, False), (10000, False), (0, True)])
def test_second_http_port_is_opened_if_different(folder: StateDirectory, extra: int | None, opened: bool) -> None:
    assert (HTTP_PORT in ports(folder, {HTTP_PORT: extra})) is opened


@pytest.mark.parametrize(
    "settings",
    [
        {LEGACY_PORT: 10001},
        {EVENTS_PORT: 10001},
        {EVENTS_PORT: 10000},
        {NEWEST_PORT: 10020},
        {HTTP_PORT: 10020},
    ],
)
def test_shared_port_of_two_purposes_is_refused(folder: StateDirectory, settings: Mapping[str, int]) -> None:
    with pytest.raises(CannotListen, match="are both"):
        ports(folder, settings)


def test_several_free_ports_are_different_ones(folder: StateDirectory) -> None:
    assert ports(folder, FREE) == FREE


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, ("127.0.0.1", "::1")),
        ({"communication/bind_address": "192.0.2.7"}, ("192.0.2.7",)),
        ({"communication/bind_all_interfaces": True}, ("0.0.0.0", "::")),
        ({"communication/bind_all_interfaces": True, "communication/bind_address": "192.0.2.7"}, ("0.0.0.0", "::")),
    ],
)
def test_addresses_follow_the_settings(
    folder: StateDirectory, settings: Mapping[str, Any], wanted: tuple[str, ...]
) -> None:
    assert addresses(make(folder, settings)._bridge.settings) == wanted


# ---------------------------------------------------------------- what cannot be opened


@pytest.mark.parametrize("setting", [NEWEST_PORT, LEGACY_PORT, EVENTS_PORT, HTTP_PORT])
def test_a_port_in_use_is_named_with_the_setting_that_moves_it(folder: StateDirectory, setting: str) -> None:
    with taken() as port:
        made = make(folder, {**FREE, setting: port})
        with pytest.raises(PortInUse) as refused:
            made.open()

    assert refused.value.sentence == (
        f"Port {port} is in use: stop the program that holds it, "
        f"or choose another with --set {setting}=PORT (0 picks a free one)."
    )


@pytest.mark.skipif("not has_ipv6()", reason="no IPv6 on this machine")
def test_port_in_use_on_ipv6_alone_counts_as_in_use(folder: StateDirectory) -> None:
    with taken("::1") as port, pytest.raises(PortInUse):
        make(folder, {**FREE, NEWEST_PORT: port}).open()


def test_ports_opened_before_a_failure_are_closed(folder: StateDirectory) -> None:
    async def work() -> None:
        with taken() as port, taken() as other:
            pass
        with taken() as held:
            settings = {NEWEST_PORT: port, LEGACY_PORT: other, EVENTS_PORT: held}
            with pytest.raises(PortInUse):
                make(folder, settings).open()
        for free in (port, other):
            socket.create_server(("127.0.0.1", free)).close()

    run(work)


def test_unavailable_address_is_named_with_its_setting(folder: StateDirectory) -> None:
    with pytest.raises(CannotListen, match=r"192\.0\.2\.7.*communication/bind_address"):
        make(folder, {**FREE, "communication/bind_address": "192.0.2.7"}).open()


def test_privileged_port_is_reported(folder: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(host: str, port: int) -> socket.socket:
        del host, port
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(listeners, "_bind", refused)

    with pytest.raises(CannotListen, match=rf"above 1023 with --set {NEWEST_PORT}=PORT"):
        make(folder, {**FREE, NEWEST_PORT: 80}).open()


@pytest.mark.parametrize("number", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
def test_missing_ipv6_listens_on_ipv4_and_logs_it_once(
    folder: StateDirectory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    bind = listeners._bind

    def without_ipv6(host: str, port: int) -> socket.socket:
        if ":" in host:
            raise OSError(number, "not here")
        return bind(host, port)

    monkeypatch.setattr(listeners, "_bind", without_ipv6)

    async def work() -> None:
        async with listening(folder, FREE) as words:
            assert (await get(parse_ready(words).http))[0] == 200

    with caplog.at_level(logging.INFO, logger="transport.listeners"):
        run(work)

    assert caplog.messages == ["no IPv6 on this machine (not here): listening on IPv4 alone."]


def test_no_bindable_address_fails_the_start(folder: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(host: str, port: int) -> socket.socket:
        del host, port
        raise OSError(errno.EAFNOSUPPORT, "not here")

    monkeypatch.setattr(listeners, "_bind", nothing)

    with pytest.raises(CannotListen):
        make(folder, FREE).open()


def test_free_port_taken_on_the_other_address_is_chosen_again(
    folder: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind = listeners._bind
    tried: list[int] = []

    def often_taken(host: str, port: int) -> socket.socket:
        if ":" in host:
            tried.append(port)
            if len(tried) < 5:
                raise OSError(errno.EADDRINUSE, "in use")
            raise OSError(errno.EAFNOSUPPORT, "not here")
        return bind(host, port)

    monkeypatch.setattr(listeners, "_bind", often_taken)

    async def work() -> None:
        async with listening(folder, FREE) as words:
            assert port_of(parse_ready(words).http) == tried[4]

    run(work)
    assert len(tried) == 7


def test_search_for_a_free_port_is_bounded(folder: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    bind = listeners._bind

    def always_taken(host: str, port: int) -> socket.socket:
        if ":" in host:
            raise OSError(errno.EADDRINUSE, "in use")
        return bind(host, port)

    monkeypatch.setattr(listeners, "_bind", always_taken)

    with pytest.raises(PortInUse):
        make(folder, FREE).open()


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
