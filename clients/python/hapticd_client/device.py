"""A device of a blocking service object: all of the core, and what HTTP does for one device."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hapticd_client.core import operations
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.http import Operation
from hapticd_client.core.operations import Calibration, Finding, Pairing
from hapticd_client.errors import SessionClosed

if TYPE_CHECKING:
    from hapticd_client.transports.blocking_http import BlockingHttp

T = TypeVar("T")


class Device(DeviceCore):
    """A device. What is named here asks over HTTP and takes milliseconds: keep it out of a loop's turns."""

    def __init__(self, kind: str, device_id: str, http: BlockingHttp) -> None:
        """`http` is kept weakly: a device outlives its service object without keeping it alive."""
        super().__init__(kind, device_id)
        self._http = weakref.ref(http)

    def _run(self, operation: Operation[T]) -> T:
        http = self._http()
        if http is None:
            raise SessionClosed("the service object of this device is gone: connect again")
        return http.run(operation)

    def _ask(self, method: str, what: str, body: Any = None) -> Any:
        return self._run(operations.of_device(self.kind, self.id, method, what, body))

    # ------------------------------------------------------------ safety

    def stop(self) -> None:
        """Stop this device: zero output whatever anybody commands, until `release`. Refused, NoService."""
        self._ask("POST", "/stop")

    def release(self) -> None:
        """End the stop of this device. Refused, NoService."""
        self._ask("DELETE", "/stop")

    @property
    def stopped(self) -> bool:
        """Whether this device is stopped. Refused, NoService."""
        return self._run(operations.device_stopped(self.kind, self.id))

    def resume_after_brake(self) -> None:
        """Let a device whose e-brake waits obey again, once it is slow. Refused, NoService."""
        self._ask("POST", "/resume")

    def trips(self) -> list[dict[str, Any]]:
        """Return what tripped last, with the motion before it, as docs/http.md describes it. Refused, NoService."""
        return self._run(operations.trips(self.kind, self.id))

    def rendering(self) -> dict[str, Any]:
        """Return what the device bears now of what the loop renders: stiffness, N/m, damping, N·s/m, and why, as docs/http.md has it. Refused, NoService."""
        return self._run(operations.rendering(self.kind, self.id))

    def check(self) -> list[Finding]:
        """Look at the device without moving it: readiness, calibration, power, stop, brake, trips. Refused, NoService."""
        return self._run(operations.check(self.kind, self.id, mover=self.is_mover))

    # ------------------------------------------------------------ calibration and pairs

    def calibrate(self) -> Iterator[Calibration]:
        """Start a calibration and yield each state, until it is calibrated or failed. Refused (409) while it is locked."""
        found = self._run(operations.calibration(self.kind, self.id, "POST"))
        while True:
            yield found
            if found.state not in {"running", "ready"}:
                return
            found = self._run(operations.next_calibration(self.kind, self.id, found))

    @property
    def calibration(self) -> Calibration:
        """How far the calibration is. Refused, NoService."""
        return self._run(operations.calibration(self.kind, self.id))

    def pair(self, other: DeviceCore) -> Pairing:
        """Pair with a grip or pen, or a grip or pen with an arm; it stays until `unpair`. Refused (409)."""
        return self._run(operations.pairing(self.kind, self.id, "POST", other.id))

    def unpair(self) -> Pairing:
        """End the pairing. Refused, NoService."""
        return self._run(operations.pairing(self.kind, self.id, "DELETE"))

    @property
    def pairing(self) -> Pairing:
        """The other half. Refused, NoService."""
        return self._run(operations.pairing(self.kind, self.id))

    def simulate(self, **what: Any) -> dict[str, Any]:
        """Move the hand of a simulated device, press a button, make a fault happen; returns what it is told to do. Refused.

        `what`: as the body of `POST /simulation/{device}/{id}`: `hand={"position": {"x": 0, "y": -0.12, "z": 0.1}}` in device space,
        m; `buttons={"a": True}`, `fault="unplug"`.
        """
        return self._run(operations.simulate(self.kind, self.id, what))

    # ------------------------------------------------------------ what a device has for all sessions

    @property
    def handedness(self) -> Literal["left", "right"]:
        """`left` or `right`; assign to change it. Refused, NoService."""
        found: Literal["left", "right"] = self._ask("GET", "/config/handedness")["handedness"]
        return found

    @handedness.setter
    def handedness(self, side: Literal["left", "right"]) -> None:
        self._ask("POST", "/config/handedness", {"handedness": side})

    @property
    def torque_scaling(self) -> bool:
        """Whether torques shrink together at saturation; assign to change it. Refused, NoService."""
        return bool(self._ask("GET", "/config/torque_scaling")["enabled"])

    @torque_scaling.setter
    def torque_scaling(self, enabled: bool) -> None:
        self._ask("POST", "/config/torque_scaling", {"enabled": enabled})

    @property
    def gravity_compensation(self) -> float:
        """Factor of the gravity compensation, 0 (off) to 1.5; assign to change it. Refused, NoService."""
        found = self._ask("GET", "/config/gravity_compensation")
        return float(found["scaling_factor"]) if found["enabled"] else 0.0

    @gravity_compensation.setter
    def gravity_compensation(self, factor: float) -> None:
        body = {"enabled": factor > 0, **({"scaling_factor": float(factor)} if factor > 0 else {})}
        self._ask("POST", "/config/gravity_compensation", body)

    @property
    def home_return(self) -> bool:
        """Whether the device returns to its centre while nobody commands it; assign to change it. Refused (422), NoService."""
        return bool(self._ask("GET", "/config/home_return")["enabled"])

    @home_return.setter
    def home_return(self, enabled: bool) -> None:
        self._ask("POST", "/config/home_return", {"enabled": enabled})
