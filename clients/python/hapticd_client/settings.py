"""Settings of a service, for blocking service objects."""

from __future__ import annotations

from typing import Any

from hapticd_client.core import operations
from hapticd_client.core.operations import Setting
from hapticd_client.transports.blocking_http import BlockingHttp


class Settings:
    """Settings by key: `settings["sessions/command_timeout"] = 0.1`. Each access is one or two HTTP requests."""

    def __init__(self, http: BlockingHttp) -> None:
        self._http = http

    def __getitem__(self, key: str) -> Any:
        """Return the value that holds now. Refused for an unknown key, NoService."""
        return self._http.run(operations.effective(key))

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a value, checked against the description first. InvalidCommand, Refused, NoService."""
        self._http.run(operations.change(key, value))

    def __delitem__(self, key: str) -> None:
        """Set a value back to its default. Refused, NoService."""
        self._http.run(operations.reset(key))

    def describe(self, key: str) -> Setting:
        """Return a setting with range, unit and description. Refused, NoService."""
        return self._http.run(operations.describe(key))

    def all(self, prefix: str = "") -> dict[str, Setting]:
        """Return every setting below a prefix by key. Refused, NoService."""
        return self._http.run(operations.describe_all(prefix))
