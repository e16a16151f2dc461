"""Hapticd: the teleoperator. `get_action` is one turn of the client's session, so forces live from one action to the next."""

from __future__ import annotations

import math
import time
from typing import Any, Final

from lerobot.teleoperators.teleoperator import Teleoperator

import hapticd_client as haptics
from lerobot_teleoperator_hapticd.clutch import Clutch
from lerobot_teleoperator_hapticd.config_hapticd import HapticdConfig

POSITION: Final = ("ee.x", "ee.y", "ee.z")
ORIENTATION: Final = ("ee.qw", "ee.qx", "ee.qy", "ee.qz")
BUTTONS: Final = ("button.a", "button.b", "button.c")
CLUTCH: Final = "clutch"
FORCE: Final = ("ee.fx", "ee.fy", "ee.fz")
FRESH_S: Final = 0.1  # after which a feedback is not felt any more


class Hapticd(Teleoperator):
    """A haptic device that leads a robot.

    Actions, all float: `ee.x y z` (m, the goal's way since the clutch was first engaged), `ee.qw qx qy qz` (orientation of the grip or
    pen, of the device's body without one), `button.a b c` and `clutch` (0 or 1). Feedback: `ee.fx fy fz` (N). A feedback is felt at once
    and through the next action, if that follows within 0.1 s; the action after that releases it unless there was another.
    """

    config_class = HapticdConfig
    name = "hapticd"

    def __init__(self, config: HapticdConfig) -> None:
        """ValueError for a scale or force that is none."""
        if not (math.isfinite(config.scale) and math.isfinite(config.max_force) and config.max_force >= 0):
            raise ValueError("scale and max_force are finite, max_force 0 or more")
        super().__init__(config)
        self.config = config
        self._service: haptics.Service | None = None
        self._clutch = Clutch(config.scale)
        self._feedback: tuple[float, float, float] | None = None
        self._fed = 0.0  # time of that feedback

    @property
    def action_features(self) -> dict[str, type]:
        """Names of an action, each a float."""
        return dict.fromkeys((*POSITION, *ORIENTATION, *BUTTONS, CLUTCH), float)

    @property
    def feedback_features(self) -> dict[str, type]:
        """Names of a feedback, each a float."""
        return dict.fromkeys(FORCE, float)

    @property
    def is_connected(self) -> bool:
        """Whether the session is open."""
        return self._service is not None and self._service.status == "open"

    @property
    def is_calibrated(self) -> bool:
        """Whether the device knows where it is."""
        return self._service is not None and self._device.state.calibrated

    def connect(self, calibrate: bool = True) -> None:  # noqa: FBT001, FBT002 (as LeRobot declares it)
        """Open a session. HapticsError of the client says what to do; RuntimeError when it is open already."""
        if self._service is not None:
            raise RuntimeError(f"{self} is connected already")
        profile = f"lerobot {self.id}" if self.id else "lerobot"
        self._service = haptics.connect(self.config.url, token=self.config.token, profile=profile)
        try:
            self._clutch = Clutch(self.config.scale)
            if calibrate and not self.is_calibrated:
                self.calibrate()
            self.configure()
        except BaseException:
            self.disconnect()
            raise

    def calibrate(self) -> None:
        """Calibrate the device. Refused, RuntimeError when it fails."""
        for state in self._device.calibrate():
            if state.state == "failed":
                raise RuntimeError(f"{self._device} could not be calibrated: {state.reason}")

    def configure(self) -> None:
        """Check that the chosen device is there. NoSuchDevice."""
        _ = self._device

    def get_action(self) -> dict[str, float]:
        """Return pose, buttons and clutch as they are now. HapticsError; every force is zero then."""
        service, device = self._connected(), self._device
        feedback, self._feedback = self._feedback, None
        if feedback is not None and time.monotonic() - self._fed <= FRESH_S:
            device.force = feedback
        service.update()
        handle = self._handle
        buttons = handle.buttons if handle is not None else {}
        engaged = not self.config.clutch or bool(buttons.get(self.config.clutch))
        goal = self._clutch.follow(device.position, engaged=engaged)
        turned = handle.orientation if handle is not None else device.orientation
        found = dict(zip((*POSITION, *ORIENTATION), (*map(float, goal), *map(float, turned)), strict=True))
        found |= {name: float(buttons.get(name[-1], False)) for name in BUTTONS}
        return found | {CLUTCH: float(engaged)}

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Let the hand feel a force: any of `ee.fx fy fz`, N; what is missing is 0. ValueError for what is no finite number."""
        unknown = sorted(set(feedback) - set(FORCE))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no feedback: there are {', '.join(FORCE)}")
        x, y, z = (float(feedback.get(name, 0.0)) for name in FORCE)
        length = math.hypot(x, y, z)
        if not math.isfinite(length):
            raise ValueError("a feedback is finite numbers, N")
        factor = min(1.0, self.config.max_force / length) if length else 1.0
        service = self._connected()
        self._feedback = self._device.force = (factor * x, factor * y, factor * z)
        self._fed = time.monotonic()
        service.update()

    def disconnect(self) -> None:
        """Release every force and end the session; a second call does nothing."""
        service, self._service = self._service, None
        self._feedback = None
        if service is not None:
            service.close()

    def _connected(self) -> haptics.Service:
        if self._service is None:
            raise RuntimeError(f"{self} is not connected: call connect()")
        return self._service

    @property
    def _device(self) -> haptics.Device:
        """The device that leads. NoSuchDevice."""
        service = self._connected()
        if self.config.device is not None:
            return service.devices[self.config.device]
        return service.arm if service.arms else service.compact

    @property
    def _handle(self) -> haptics.Device | None:
        """The first grip or pen that is here."""
        service = self._connected()
        return next((one for one in (*service.grips, *service.pens) if one.present), None)
