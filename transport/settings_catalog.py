"""The settings catalogue of the service: the core's rows and those of every registered driver."""

from __future__ import annotations

from typing import Final

from actors.settings.api import CORE_CATALOG
from transport.link.drivers import driver_settings

SETTINGS_CATALOG: Final = CORE_CATALOG.extended(driver_settings())
