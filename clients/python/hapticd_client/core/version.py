"""Version of this client, and of the services that it speaks to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hapticd_client.errors import WrongVersion

VERSION: Final = "3.5.3.1"  # version of this client, a text; the service of the same release has it too
INTERFACE: Final = (3, 5)  # major and minor version of the interface that a service must speak, or a newer minor one


def check_interface(version: Mapping[str, Any], shown: str) -> None:
    """Check the answer of `GET /version`; WrongVersion for an interface of another major version, or an older one."""
    told = str(version.get("interface", ""))
    try:
        parts = tuple(int(part) for part in told.split("."))
    except ValueError:
        parts = ()
    if parts[:1] != INTERFACE[:1] or parts[:2] < INTERFACE:
        wanted = ".".join(map(str, INTERFACE))
        raise WrongVersion(
            f"The service at {shown} speaks interface {told or 'of an unknown version'}, and hapticd-client {VERSION} speaks {wanted} "
            f"and newer ones of {INTERFACE[0]}.x: install the client of the service's version"
        )
