"""Shared fixtures of the link tests."""

from __future__ import annotations

import pytest

from tests.support.boards.host_fsm_rig import HostFsmRig


@pytest.fixture
def rig() -> HostFsmRig:
    """Return a rig whose host has received nothing yet."""
    return HostFsmRig()
