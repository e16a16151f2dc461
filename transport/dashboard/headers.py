"""Response headers of the dashboard: a Content-Security-Policy without any `unsafe-…`, and caches that always ask back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from transport.security import host_name

POLICY: Final = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
SECURITY_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), serial=()",
    }
)


def page_headers(host: str, channels: Iterable[int]) -> dict[str, str]:
    """Return the headers of a file that is served as `host` (a Host header); `channels` are the WebSocket ports of the service."""
    return {**SECURITY_HEADERS, "Content-Security-Policy": content_security_policy(host, channels)}


def content_security_policy(host: str, channels: Iterable[int]) -> str:
    """Return the policy; the page may connect to its own origin, and to WebSocket ports of the same host.

    An IPv6 address cannot be written in a policy: `*` takes its place.
    """
    name = host_name(host)
    place = "*" if name is None or ":" in name else name
    sources = ("'self'", *(f"ws://{place}:{port}" for port in sorted(set(channels))))
    return "; ".join((*POLICY, f"connect-src {' '.join(sources)}"))
