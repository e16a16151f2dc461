"""Plugin of pytest: the fixture `hapticd`, a real service with a simulated arm and grip. Imports the client only when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hapticd_client.testing import TestService


@pytest.fixture
def hapticd() -> Iterator[TestService]:
    """Yield a running service; `hapticd_client.testing.service` starts one with other devices and settings."""
    from hapticd_client import testing

    with testing.service() as running:
        yield running
