"""FeelEnv: the agent is what makes the force. It sees a simulated hand and is paid for forces that feel as they shall.

Each environment starts a service of its own in which time stands still: an episode has the same numbers on any machine, and passes faster than
in real time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hapticd_client import Service, testing
from hapticd_gym.feel import Feel, Vector, floor

Observation: TypeAlias = dict[str, NDArray[np.float32]]
Action: TypeAlias = NDArray[np.float32]

# The box in which the hand moves, m, in device space; an arm reaches all of it.
LOW: Final = np.array([-0.05, -0.15, 0.09])
HIGH: Final = np.array([0.05, -0.09, 0.17])
# Beyond what a hand and the reach of a device allow.
MOST_M: Final = 1.0
MOST_M_S: Final = 20.0
SETTLE_S: Final = 1.0
TICKS_PER_S: Final = 4000
# s from one place to which the hand is drawn to the next
REACH_S: Final = 0.25
MOST_LOOKS: Final = 1000


class FeelEnv(gymnasium.Env[Observation, Action]):
    """Observation: `position` (m), `velocity` (m/s), `force` (N, as applied), each float32 of shape (3,). Action: the next force as a share of
    `max_force`, -1 to 1, float32 of shape (3,).

    Reward: minus the distance (N) between the force and what `feel` says at the position that the agent saw, each step. An episode never
    terminates; it is truncated after `seconds`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        feel: Feel | None = None,
        rate: float = 100.0,
        seconds: float = 5.0,
        max_force: float = 4.0,
        kind: str = "arm",
        command: Sequence[str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """`feel`: what the hand shall feel, a floor unless given; `rate`: steps per s, 20 to 1000; `seconds`: of an episode.

        `max_force`: N, of each component of an action; `kind`: `arm` or `compact`; `command`: the program that is started, as in
        `hapticd_client.testing.service`. ValueError, NoService.
        """
        if not 20 <= rate <= 1000:
            raise ValueError(f"rate is 20 to 1000 steps per s, and this is {rate:g}")
        if not (0 < seconds < float("inf") and 0 < max_force < float("inf")):
            raise ValueError("seconds and max_force are above 0")
        if render_mode is not None:
            raise ValueError("there is no render mode: the dashboard of a service that runs by itself shows the hand")
        self.render_mode = None
        self._feel = feel or floor()
        self._ticks = round(TICKS_PER_S / rate)
        self._steps = max(1, round(seconds * rate))
        self._every = max(1, round(REACH_S * rate))
        self._number = 0
        self._max_force = max_force
        self.action_space = spaces.Box(-1, 1, (3,), np.float32)
        self.observation_space = spaces.Dict(
            {
                "position": spaces.Box(-MOST_M, MOST_M, (3,), np.float32),
                "velocity": spaces.Box(-MOST_M_S, MOST_M_S, (3,), np.float32),
                "force": spaces.Box(-2 * max_force, 2 * max_force, (3,), np.float32),
            }
        )
        self._stack = ExitStack()
        # Tasks of learning jump between forces; the service's filter of oscillations would take part in it.
        settings = {"control/frequency": TICKS_PER_S, "filters/oscillation/enabled": False}
        with ExitStack() as stack:
            running = stack.enter_context(testing.service(kind, settings, command, stepped=True))
            self._service: Service = stack.enter_context(running.connect(profile="hapticd-gym"))
            self._stack = stack.pop_all()
        self._device = next(iter(self._service.devices.values()))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: the hand rests at a place that `seed` decides. `options`: `{"position": (x, y, z)}`, m, instead of it."""
        super().reset(seed=seed)
        given = (options or {}).get("position")
        place = self.np_random.uniform(LOW, HIGH) if given is None else np.asarray(given, np.float64)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ValueError("position is three finite numbers, m")
        self._number = 0
        self._begin(place)
        return self._seen(), {}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply a force for a step. The info has `wanted`: what `feel` said, N. ValueError for what is no action."""
        share = np.asarray(action, np.float64)
        if share.shape != (3,) or not np.isfinite(share).all():
            raise ValueError("an action is three finite numbers, -1 to 1")
        force = self._max_force * np.clip(share, -1, 1)
        wanted = self._feel(self._device.position, self._device.velocity)
        if self._number % self._every == 0:
            self._draw(self.np_random.uniform(LOW, HIGH))
        self._device.force = force
        self._service.step(self._ticks)
        self._number += 1
        reward = -float(np.linalg.norm(force - wanted))
        return self._seen(), reward, False, self._number >= self._steps, {"wanted": wanted}

    def close(self) -> None:
        """Stop the service; a second call does nothing."""
        self._stack.close()

    def _begin(self, place: Vector) -> None:
        """Put a device with a hand at `place`: a new one, as where a hand rests depends on its way there, by friction."""
        service, device = self._service, self._device
        service.remove_simulated(device.id)
        service.step()
        service.add_simulated(device.kind, device.id)
        self._draw(place)
        service.step(round(SETTLE_S * TICKS_PER_S))
        for _ in range(MOST_LOOKS):
            if device.present and device.ready:
                device.resume()
                return
            service.step(self._ticks)
        raise RuntimeError(f"{device} does not get ready: see the service's log")

    def _draw(self, place: Vector) -> None:
        """Draw the hand to a place."""
        self._device.simulate(hand={"position": dict(zip("xyz", map(float, place), strict=True))})

    def _seen(self) -> Observation:
        """Return what the agent sees."""
        device = self._device
        found = {"position": device.position, "velocity": device.velocity, "force": device.force}
        return {name: np.nan_to_num(value).astype(np.float32) for name, value in found.items()}
