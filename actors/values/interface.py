"""Version of the interface that the service speaks."""

from __future__ import annotations

from typing import Final

INTERFACE: Final = "3.5.3"
