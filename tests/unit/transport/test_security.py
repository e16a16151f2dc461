"""Access policy rules: every combination of host and origin of the contract, and look-alikes."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import HapticError
from actors.settings.sources import Override
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from transport.security import (
    AccessPolicy,
    AccessRules,
    Requester,
    WebOrigin,
    audit,
    bearer,
    check_access,
    cors_headers,
    host_name,
    is_loopback,
    own_names,
    parse_origin,
    same_token,
)
from transport.settings_catalog import SETTINGS_CATALOG
from transport.wire.envelope import Forbidden, TokenRequired

TOKEN = "correct-horse-battery"
RULES = AccessRules(
    token=TOKEN,
    hosts=frozenset({"workbench", "proxy.example"}),
    foreign_origins=frozenset({WebOrigin("https", "app.example", 443), WebOrigin("chrome-extension", "abc", None)}),
    ports=frozenset({10000, 10001}),
)
HERE = Requester("GET", upgrade=False, peer="127.0.0.1", local="127.0.0.1", host="localhost", origin=None, token=None)
AWAY = replace(HERE, peer="192.0.2.9", local="192.0.2.7", host="192.0.2.7:10001")


def verdict(requester: Requester, rules: AccessRules = RULES) -> type[HapticError] | None:
    error = check_access(requester, rules)
    return None if error is None else type(error)


# ---------------------------------------------------------------- hosts


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:10001",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]",
        "[::1]:10001",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "workbench",
        "WORKBENCH:10001",
        "proxy.example:443",
        "192.0.2.7:10001",
        None,
    ],
)
def test_own_host_is_admitted(host: str | None) -> None:
    assert verdict(replace(HERE, host=host, local="192.0.2.7")) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "evil.example:10001",
        "192.0.2.8",
        "127.0.0.1.evil.example",
        "2130706433",
        "0x7f000001",
        "127.1",
        "0.0.0.0",
        "[::]",
        "::1",
        "[::1",
        "[::1]x",
        "localhost:",
        "localhost:x",
        "localhost:999999",
        "user@localhost",
        "localhost@evil.example",
        "localhost/evil.example",
        "localhost#",
        "localhost evil.example",
        "localhost, evil.example",
        "local\thost",
        "l\u00f6calhost",
        ".",
        "localhost..",
    ],
)
def test_foreign_host_is_refused_even_for_reads(host: str) -> None:
    assert verdict(replace(HERE, host=host, local="192.0.2.7")) is Forbidden


def test_names_of_this_machine_are_recognised() -> None:
    assert own_names("Bench.lab.example.") == {"bench.lab.example", "bench", "bench.local"}
    assert own_names("bench") == {"bench", "bench.local"}
    assert own_names("") == frozenset()
    assert own_names()


# ---------------------------------------------------------------- origins

ACTS = [
    replace(HERE, method="POST"),
    replace(HERE, method="DELETE"),
    replace(HERE, method="PATCH"),
    replace(HERE, method="PUT"),
    replace(HERE, upgrade=True),
]
OWN = [
    None,
    "http://localhost",
    "http://localhost:3000",
    "https://LOCALHOST:10001",
    "http://127.0.0.1:8080",
    "http://[::1]:10001",
    "ws://127.0.0.1:10001",
    "http://app.localhost:5173",
    "https://app.example",
    "https://app.example:443",
    "HTTPS://APP.EXAMPLE",
    "chrome-extension://abc",
    "http://workbench:10001",
    "http://192.0.2.7:10000",
]
FOREIGN = [
    "null",
    "",
    "https://evil.example",
    "http://app.example",
    "https://app.example:444",
    "https://app.example.evil.example",
    "https://app.example/",
    "https://app.example@evil.example",
    "http://localhost.evil.example",
    "http://localhost:3000, https://evil.example",
    "http://workbench:8080",
    "http://workbench",
    "http://192.0.2.7:10002",
    "http://192.0.2.8:10001",
    "file://",
    "file://localhost",
    "capacitor://localhost",
    "chrome-extension://abd",
    "localhost",
    "//localhost",
    "http:localhost",
    "http://",
    "http://local\nhost",
]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: "upgrade" if act.upgrade else act.method)
@pytest.mark.parametrize("origin", OWN)
def test_own_origins_and_programs_may_change_state(act: Requester, origin: str | None) -> None:
    assert verdict(replace(act, origin=origin, local="192.0.2.7")) is None


@pytest.mark.parametrize("act", ACTS, ids=lambda act: "upgrade" if act.upgrade else act.method)
@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_origins_may_not_change_state(act: Requester, origin: str) -> None:
    assert verdict(replace(act, origin=origin, local="192.0.2.7")) is Forbidden


READS = [
    HERE,
    replace(HERE, method="HEAD"),
    replace(HERE, method="OPTIONS"),
    replace(HERE, method="OPTIONS", asks_for="POST", asks_private=True),
]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_origins_may_not_read_and_get_no_cors_headers(read: Requester, origin: str) -> None:
    foreign = replace(read, origin=origin, local="192.0.2.7")

    assert verdict(foreign) is Forbidden
    assert cors_headers(foreign, RULES, ["GET"]) == {}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("origin", OWN)
@pytest.mark.parametrize("site", [None, "cross-site", "same-site", "same-origin", "none"])
def test_own_origins_may_read_with_any_sec_fetch_site(read: Requester, origin: str | None, site: str | None) -> None:
    allowed = origin is not None or site != "cross-site"

    assert verdict(replace(read, origin=origin, site=site, local="192.0.2.7")) is (None if allowed else Forbidden)


@pytest.mark.parametrize("read", [*READS, *ACTS])
def test_cross_site_request_without_an_origin_is_refused(read: Requester) -> None:
    assert verdict(replace(read, site="cross-site")) is Forbidden
    assert verdict(replace(read, site="Cross-Site")) is Forbidden


def test_health_may_be_read_by_any_origin_but_only_read() -> None:
    health = replace(HERE, health=True)
    pages = [replace(health, origin="https://evil.example"), replace(health, origin="null")]
    for asks in (*pages, replace(health, site="cross-site")):
        assert verdict(asks) is None
        assert verdict(replace(asks, method="HEAD")) is None
        assert verdict(replace(asks, method="POST")) is Forbidden
        assert verdict(replace(asks, upgrade=True)) is Forbidden
        assert cors_headers(asks, RULES, ["GET"]) == {}


def test_allowed_origins_get_cors_headers_on_every_answer() -> None:
    for origin in ("https://app.example", "http://localhost:3000", "http://127.0.0.1:8080", "http://workbench:10001"):
        assert cors_headers(replace(HERE, origin=origin), RULES, ["GET", "HEAD"]) == {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, HEAD",
            "Access-Control-Allow-Headers": "Content-Type, Authorization",
            "Access-Control-Expose-Headers": "Allow, Retry-After, WWW-Authenticate",
        }
    assert cors_headers(HERE, RULES, ["GET"]) == {}


def test_preflight_has_max_age_and_private_network_access_on_request() -> None:
    asks = replace(HERE, method="OPTIONS", origin="http://localhost:3000", asks_for="POST")

    plain = cors_headers(asks, RULES, ["POST"])
    private = cors_headers(replace(asks, asks_private=True), RULES, ["POST"])

    assert plain["Access-Control-Max-Age"] == "600"
    assert "Access-Control-Allow-Private-Network" not in plain
    assert private == {**plain, "Access-Control-Allow-Private-Network": "true"}
    for no_preflight in (replace(asks, method="GET"), replace(asks, asks_for=None)):
        assert "Access-Control-Max-Age" not in cors_headers(no_preflight, RULES, ["POST"])


# ---------------------------------------------------------------- tokens


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_needs_no_token(peer: str) -> None:
    assert verdict(replace(HERE, peer=peer)) is None


@pytest.mark.parametrize("peer", ["192.0.2.9", "192.0.2.7", "fe80::1%eth0", "2001:db8::1", "::ffff:192.0.2.9", "", "x"])
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "\u00fc"])
def test_every_other_peer_needs_the_token(peer: str, token: str | None) -> None:
    assert verdict(replace(AWAY, peer=peer, token=token)) is TokenRequired
    assert verdict(replace(AWAY, peer=peer, token=TOKEN)) is None


def test_every_request_of_a_remote_peer_needs_the_token() -> None:
    for method in ("GET", "HEAD", "POST", "DELETE"):
        assert verdict(replace(AWAY, method=method)) is TokenRequired
    assert verdict(replace(AWAY, upgrade=True)) is TokenRequired


def test_preflight_needs_no_token() -> None:
    assert verdict(replace(AWAY, method="OPTIONS", origin="https://app.example", asks_for="POST")) is None


def test_token_can_be_disabled() -> None:
    assert verdict(AWAY, replace(RULES, token_required=False)) is None


def test_token_does_not_admit_a_foreign_origin_or_host() -> None:
    assert verdict(replace(AWAY, token=TOKEN, upgrade=True, origin="https://evil.example")) is Forbidden
    assert verdict(replace(AWAY, token=TOKEN, host="evil.example")) is Forbidden


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("", None),
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Bearer", ""),
        ("Basic abc", None),
        ("abc", None),
    ],
)
def test_authorization_header_is_parsed(header: str | None, token: str | None) -> None:
    assert bearer(header) == token


@given(st.text() | st.none())
def test_only_the_exact_token_is_accepted(shown: str | None) -> None:
    assert same_token(shown, TOKEN) is (shown == TOKEN)
    assert same_token(TOKEN, TOKEN)


def test_token_comparison_takes_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(shown: bytes, token: bytes) -> bool:
        compared.append((shown, token))
        return shown == token

    monkeypatch.setattr("transport.security.hmac.compare_digest", compare)
    assert check_access(replace(HERE, peer="192.0.2.9", token="correct-horse"), RULES) is not None
    assert check_access(replace(HERE, peer="192.0.2.9", token=TOKEN), RULES) is None
    assert compared == [(b"correct-horse", TOKEN.encode()), (TOKEN.encode(), TOKEN.encode())]


# ---------------------------------------------------------------- parsing


@given(st.text())
def test_any_input_is_judged_without_error(text: str) -> None:
    host_name(text)
    parse_origin(text)
    is_loopback(text)
    for requester in (replace(HERE, host=text), replace(HERE, method="POST", origin=text), replace(HERE, site=text)):
        assert verdict(requester) in {None, Forbidden}


def test_refusal_names_the_setting_to_change() -> None:
    host = check_access(replace(HERE, host="evil.example"), RULES)
    origin = check_access(replace(HERE, method="POST", origin="null"), RULES)
    token = check_access(AWAY, RULES)

    assert host is not None
    assert origin is not None
    assert token is not None
    assert "communication/allowed_hosts" in host.sentence
    assert "communication/allowed_origins" in origin.sentence
    assert "hapticd token" in token.sentence
    assert TOKEN not in token.sentence


# ---------------------------------------------------------------- the guard


def test_policy_follows_the_settings(folder: StateDirectory) -> None:
    overrides = {"communication/auth/required": Override(value=False, source="command line")}
    state = SettingsState.load(folder, SETTINGS_CATALOG, overrides)
    guard = AccessPolicy(state.view, TOKEN, lambda: frozenset({"workbench"}))
    before = guard.rules

    assert guard.rules is before
    assert before == AccessRules(TOKEN, token_required=False, hosts=frozenset({"workbench"}))

    state.commit(
        state.current.settings(
            {
                "communication/allowed_hosts": ["Proxy.Example", "2001:db8::1", "[2001:db8::2]"],
                "communication/allowed_origins": ["https://App.Example:443", "http://x.example"],
            }
        )
    )
    guard.listens_on([10001])

    assert guard.rules == AccessRules(
        TOKEN,
        token_required=False,
        hosts=frozenset({"workbench", "proxy.example", "2001:db8::1", "2001:db8::2"}),
        foreign_origins=frozenset({WebOrigin("https", "app.example", 443), WebOrigin("http", "x.example", 80)}),
        ports=frozenset({10001}),
    )


def test_audit_line_names_requester_and_change(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        audit("192.0.2.9", "7", "disconnected")

    assert caplog.messages == ["peer=192.0.2.9 session=7 disconnected"]
