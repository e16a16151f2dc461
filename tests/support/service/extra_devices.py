"""Add simulated devices to a running service over HTTP and remove them again."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from tests.support.clients.http_client import HttpClient
from tests.support.service.polling import eventually

POLL_S: Final = 0.01


@contextmanager
def extra_device(http: HttpClient, device_type: str, device_id: str, **spec: object) -> Generator[str]:
    """Add a simulated device, wait until it is ready, yield its id, and remove it; `spec` goes into POST /simulation/devices."""
    assert http.post("/simulation/devices", {"type": device_type, "device_id": device_id, **spec}).status == 200
    port = port_path(http, device_id)
    try:
        wait_until_ready(http, device_id)
        yield device_id
    finally:
        http.post(f"{port}/reset")
        eventually(lambda: _removed(http, device_id), f"{device_id} is removed", pause_s=POLL_S)


def wait_until_ready(http: HttpClient, device_id: str) -> None:
    """Return when the device takes commands."""

    def ready() -> bool:
        reply = http.get(f"/*/{device_id}")
        return reply.status == 200 and bool(reply.json["status"]["ready"])

    eventually(ready, f"{device_id} is ready", pause_s=POLL_S)


def port_path(http: HttpClient, device_id: str) -> str:
    """`/ports/{port}` of a device that was added; waits until its port is listed."""

    def port() -> str | None:
        rows = http.get("/ports").json["ports"]
        return next((row["port"] for row in rows if row["device_id"] == device_id), None)

    return f"/ports/{eventually(port, f'the port of {device_id} is listed', pause_s=POLL_S)}"


def _removed(http: HttpClient, device_id: str) -> bool:
    """Request the removal of the device; return whether it is gone."""
    return http.delete(f"/simulation/devices/{device_id}").status in {200, 404}
