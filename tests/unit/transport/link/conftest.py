"""What several tests of links begin with."""

from __future__ import annotations

import pytest

from tests.support.talk_rig import Rig


@pytest.fixture
def rig() -> Rig:
    """A talk that nobody has answered yet."""
    return Rig()
