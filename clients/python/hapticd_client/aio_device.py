"""A device of an asyncio service object: all of the core, and what HTTP does for one device."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator
from typing import Any, Literal, TypeVar

from hapticd_client.core import operations
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.http import Operation
from hapticd_client.core.operations import Calibration, Finding, Pairing
from hapticd_client.errors import SessionClosed
from hapticd_client.transports.streams import AsyncHttp

T = TypeVar("T")


class Device(DeviceCore):
    """A device. What is awaited here asks over HTTP and takes milliseconds."""

    def __init__(self, kind: str, device_id: str, http: AsyncHttp) -> None:
        """`http` is kept weakly: a device outlives its service object without keeping it alive."""
        super().__init__(kind, device_id)
        self._http = weakref.ref(http)

    async def _run(self, operation: Operation[T]) -> T:
        http = self._http()
        if http is None:
            raise SessionClosed("the service object of this device is gone: connect again")
        return await http.run(operation)

    async def _ask(self, method: str, what: str, body: Any = None) -> Any:
        return await self._run(operations.of_device(self.kind, self.id, method, what, body))

    # ------------------------------------------------------------ safety

    async def stop(self) -> None:
        """Stop this device: zero output whatever anybody commands, until `release`. Refused, NoService."""
        await self._ask("POST", "/stop")

    async def release(self) -> None:
        """End the stop of this device. Refused, NoService."""
        await self._ask("DELETE", "/stop")

    async def stopped(self) -> bool:
        """Return whether this device is stopped. Refused, NoService."""
        return await self._run(operations.device_stopped(self.kind, self.id))

    async def resume_after_brake(self) -> None:
        """Let a device whose e-brake waits obey again, once it is slow. Refused, NoService."""
        await self._ask("POST", "/resume")

    async def trips(self) -> list[dict[str, Any]]:
        """Return what tripped last, with the motion before it. Refused, NoService."""
        return await self._run(operations.trips(self.kind, self.id))

    async def rendering(self) -> dict[str, Any]:
        """Return what the device bears now of what the loop renders: stiffness, N/m, damping, N·s/m, and why, as docs/http.md has it. Refused, NoService."""
        return await self._run(operations.rendering(self.kind, self.id))

    async def check(self) -> list[Finding]:
        """Look at the device without moving it. Refused, NoService."""
        return await self._run(operations.check(self.kind, self.id, mover=self.is_mover))

    # ------------------------------------------------------------ calibration and pairs

    async def calibrate(self) -> AsyncIterator[Calibration]:
        """Start a calibration and yield each state, until it is calibrated or failed. Refused (409) while it is locked."""
        found = await self._run(operations.calibration(self.kind, self.id, "POST"))
        while True:
            yield found
            if found.state not in {"running", "ready"}:
                return
            found = await self._run(operations.next_calibration(self.kind, self.id, found))

    async def calibration(self) -> Calibration:
        """Return how far the calibration is. Refused, NoService."""
        return await self._run(operations.calibration(self.kind, self.id))

    async def pair(self, other: DeviceCore) -> Pairing:
        """Pair with a grip or pen, or a grip or pen with an arm. Refused (409)."""
        return await self._run(operations.pairing(self.kind, self.id, "POST", other.id))

    async def unpair(self) -> Pairing:
        """End the pairing. Refused, NoService."""
        return await self._run(operations.pairing(self.kind, self.id, "DELETE"))

    async def pairing(self) -> Pairing:
        """Return the other half. Refused, NoService."""
        return await self._run(operations.pairing(self.kind, self.id))

    # ------------------------------------------------------------ what a device has for all sessions

    async def set_handedness(self, side: Literal["left", "right"]) -> None:
        """Set `left` or `right`. Refused, NoService."""
        await self._ask("POST", "/config/handedness", {"handedness": side})

    async def set_torque_scaling(self, enabled: bool) -> None:  # noqa: FBT001 (as the attribute of the blocking twin)
        """Set whether torques shrink together at saturation. Refused, NoService."""
        await self._ask("POST", "/config/torque_scaling", {"enabled": enabled})

    async def set_gravity_compensation(self, factor: float) -> None:
        """Set the factor of the gravity compensation, 0 (off) to 1.5. Refused, NoService."""
        body = {"enabled": factor > 0, **({"scaling_factor": float(factor)} if factor > 0 else {})}
        await self._ask("POST", "/config/gravity_compensation", body)

    async def set_home_return(self, enabled: bool) -> None:  # noqa: FBT001 (as the attribute of the blocking twin)
        """Set whether the device returns to its centre while nobody commands it. Refused (422), NoService."""
        await self._ask("POST", "/config/home_return", {"enabled": enabled})

    async def simulate(self, **what: Any) -> dict[str, Any]:
        """Tell a simulated device what to do, as the blocking twin does. Refused."""
        return await self._run(operations.simulate(self.kind, self.id, what))
