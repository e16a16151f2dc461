"""Settings of a service, for asyncio."""

from __future__ import annotations

from typing import Any

from hapticd_client.core import operations
from hapticd_client.core.operations import Setting
from hapticd_client.transports.streams import AsyncHttp


class Settings:
    """Settings by key; each call is one or two HTTP requests."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def get(self, key: str) -> Any:
        """Return the value that holds now. Refused for an unknown key, NoService."""
        return await self._http.run(operations.effective(key))

    async def set(self, key: str, value: Any) -> Setting:
        """Set a value, checked against the description first. InvalidCommand, Refused, NoService."""
        return await self._http.run(operations.change(key, value))

    async def reset(self, key: str) -> Setting:
        """Set a value back to its default. Refused, NoService."""
        return await self._http.run(operations.reset(key))

    async def describe(self, key: str) -> Setting:
        """Return a setting with range, unit and description. Refused, NoService."""
        return await self._http.run(operations.describe(key))

    async def all(self, prefix: str = "") -> dict[str, Setting]:
        """Return every setting below a prefix by key. Refused, NoService."""
        return await self._http.run(operations.describe_all(prefix))
