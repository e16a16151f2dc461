"""Access policy: rules on Host, Origin and token as plain functions, the policy of the current settings, the audit log."""

from __future__ import annotations

import hmac
import logging
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from actors.kit.errors import HapticError
from transport.wire.envelope import Forbidden, TokenRequired

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.settings.api import SettingsView

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CROSS_SITE: Final = "cross-site"
# s for which a browser may cache the answer to a preflight.
PREFLIGHT_S: Final = 600
WEB_PORTS: Final[Mapping[str, int]] = MappingProxyType({"http": 80, "https": 443, "ws": 80, "wss": 443})

_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+(?:%[0-9a-z_.-]+)?)\]|([0-9a-z_.-]+))(?::([0-9]{1,5}))?", re.IGNORECASE)
_ORIGIN: Final = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)", re.IGNORECASE | re.DOTALL)

audit_log = logging.getLogger("hapticd.audit")


@dataclass(frozen=True, slots=True)
class Requester:
    """The sender of a request, as its headers and addresses describe it."""

    method: str
    upgrade: bool
    peer: str
    local: str  # local address that the request reached
    host: str | None
    origin: str | None
    token: str | None
    site: str | None = None  # Sec-Fetch-Site: relation of the page to this service, as the browser sees it
    health: bool = False  # the path is /healthz or /readyz
    dashboard: bool = False  # the path is that of a file of the dashboard, or leads there
    asks_for: str | None = None  # Access-Control-Request-Method of a preflight
    asks_private: bool = False  # Access-Control-Request-Private-Network of a preflight


class WebOrigin(NamedTuple):
    """An origin in lower case; `port` None: neither written nor implied by the scheme."""

    scheme: str
    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The settings that `check_access` reads; host names are in lower case, `ports` are the listening ports."""

    token: str
    token_required: bool = True
    hosts: frozenset[str] = field(default_factory=frozenset[str])
    foreign_origins: frozenset[WebOrigin] = field(default_factory=frozenset[WebOrigin])
    ports: frozenset[int] = field(default_factory=frozenset[int])


def check_access(requester: Requester, rules: AccessRules) -> HapticError | None:
    """Return None, or the refusal: Forbidden for Host and Origin, then TokenRequired."""
    if requester.host is not None and not is_own_host(requester.host, requester.local, rules.hosts):
        return Forbidden(
            "The Host of this request is no name of this machine: use its address, or add the name to communication/allowed_hosts."
        )
    if not (requester.health and requester.method in READING and not requester.upgrade):
        if requester.origin is None and (requester.site or "").lower() == CROSS_SITE:
            return Forbidden(
                "Pages of another site may not use the service: type its address, or have the page use fetch and add its origin "
                "to communication/allowed_origins."
            )
        if requester.origin is not None and not may_act(requester.origin, requester.local, rules):
            return Forbidden("Pages of this Origin may not use the service: add it to communication/allowed_origins.")
    # A browser asks OPTIONS before it may send the token, and the dashboard is the page that asks for the token.
    is_page = requester.dashboard and requester.method in READING and not requester.upgrade
    needs_token = (
        rules.token_required and requester.method != "OPTIONS" and not is_loopback(requester.peer) and not is_page
    )
    if needs_token and not same_token(requester.token, rules.token):
        return TokenRequired(
            'From another machine, send the token that "hapticd token" shows, as "Authorization: Bearer …" or "?token=…".'
        )
    return None


def cors_headers(requester: Requester, rules: AccessRules, methods: Iterable[str]) -> dict[str, str]:
    """Return the CORS headers for a page of an allowed origin, also for errors; none for any other page."""
    if requester.origin is None or not may_act(requester.origin, requester.local, rules):
        return {}
    headers = {
        "Access-Control-Allow-Origin": requester.origin,
        "Access-Control-Allow-Methods": ", ".join(methods),
        "Access-Control-Allow-Headers": "Content-Type, Authorization",
        "Access-Control-Expose-Headers": "Allow, Retry-After, WWW-Authenticate",
    }
    if is_preflight(requester):
        headers["Access-Control-Max-Age"] = str(PREFLIGHT_S)
        if requester.asks_private:
            headers["Access-Control-Allow-Private-Network"] = "true"
    return headers


def is_preflight(requester: Requester) -> bool:
    """Whether a browser asks if a page may send a request (the CORS preflight of the Fetch standard)."""
    return requester.method == "OPTIONS" and requester.origin is not None and requester.asks_for is not None


def may_act(origin: str, local: str, rules: AccessRules) -> bool:
    """Whether pages of `origin` may use the service: an allowed origin, loopback, or a page of this service."""
    parsed = parse_origin(origin)
    if parsed is None:
        return False
    if parsed in rules.foreign_origins:
        return True
    if parsed.scheme not in WEB_PORTS:
        return False
    return is_loopback(parsed.host) or (parsed.port in rules.ports and _is_own_name(parsed.host, local, rules.hosts))


def is_own_host(host: str, local: str, names: frozenset[str]) -> bool:
    """Whether a Host header names loopback, the address that was reached, or one of `names`; its port is ignored."""
    name = host_name(host)
    return name is not None and (is_loopback(name) or _is_own_name(name, local, names))


def host_name(host: str) -> str | None:
    """Return the name or address in a Host header, in lower case, without port, brackets and final dot; None if invalid."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower().removesuffix(".") or None if found else None


def parse_origin(origin: str) -> WebOrigin | None:
    """Parse an Origin header; None for `null` and for an invalid origin."""
    found = _ORIGIN.fullmatch(origin)
    place = _HOST.fullmatch(found[2]) if found else None
    name = host_name(found[2]) if found else None
    if found is None or place is None or name is None:
        return None
    scheme = found[1].lower()
    return WebOrigin(scheme, name, int(place[3]) if place[3] else WEB_PORTS.get(scheme))


def is_loopback(name: str) -> bool:
    """Whether an address or host name means this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def same_token(shown: str | None, token: str) -> bool:
    """Whether the token is right; takes the same time however much of it is."""
    return shown is not None and hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), token.encode())


def bearer(authorization: str | None) -> str | None:
    """Return the token of an `Authorization` header; None without one."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def own_names(machine: str | None = None) -> frozenset[str]:
    """Return the names of this machine on its network, in lower case."""
    name = (socket.gethostname() if machine is None else machine).lower().removesuffix(".")
    short = name.partition(".")[0]
    return frozenset({name, short, f"{short}.local"} - {"", ".local"})


def audit(peer: str, session: str, what: str, *, device: str | None = None, port: str | None = None) -> None:
    """Log one line for a changed setting, port reset, stop or disconnected session; `session` is "-" outside of sessions."""
    number = int(session) if session.isdecimal() else None
    fields = {"event": "audit", "client": peer, "session": number, "device": device, "port": port}
    audit_log.info("peer=%s session=%s %s", peer, session, what, extra=fields)


class AccessPolicy:
    """The access rules of the current settings; main thread only."""

    def __init__(
        self, settings: Published[SettingsView], token: str, names: Callable[[], frozenset[str]] = own_names
    ) -> None:
        """`token` is the bearer token; `names` is called once."""
        self._settings = settings
        self._token = token
        self._names = names()
        self._ports: frozenset[int] = frozenset()
        self._cached: tuple[int, AccessRules] | None = None

    def listens_on(self, ports: Iterable[int]) -> None:
        """Set the listening ports: pages served from them count as own pages."""
        self._ports = frozenset(ports)
        self._cached = None

    @property
    def rules(self) -> AccessRules:
        """The rules in force."""
        version, view = self._settings.versioned
        if self._cached is None or self._cached[0] != version:
            allowed = (host_name(_bracketed(host)) for host in view.texts("communication/allowed_hosts"))
            origins = (parse_origin(origin) for origin in view.texts("communication/allowed_origins"))
            rules = AccessRules(
                token=self._token,
                token_required=view.flag("communication/auth/required"),
                hosts=self._names.union(host for host in allowed if host is not None),
                foreign_origins=frozenset(origin for origin in origins if origin is not None),
                ports=self._ports,
            )
            self._cached = (version, rules)
        return self._cached[1]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _is_own_name(name: str, local: str, names: frozenset[str]) -> bool:
    address = _address(name)
    return name in names or (address is not None and address == _address(local))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address without its zone, IPv4 taken out of IPv6; None if the text is not an address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped
