"""Route of what a device bears, `/{device}/{id}/rendering`: springs and dampers that the loop renders stably at present, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from actors.device.api import force_scale
from transport.http.call import Answer, Call
from transport.http.device_selector import MotorArea, find
from transport.http.results import Act, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, number, obj
from transport.http.schema.route_schema import SEVERAL_MOVERS, RouteSchema

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from fastpath.arena.runtime import Runtime

PERIODS: Final = 1.5  # of the loop, after which a force acts: its own, and half of it for the hold
RENDERING: Final = RouteSchema(
    obj(
        {
            "device_id": TEXT,
            "stiffness": number(0, description="Largest stiffness, N/m."),
            "stiffness_damping": number(0, description="Damping with which that stiffness is stable, N·s/m."),
            "damping": number(0, description="Largest damping without a spring, N·s/m."),
            "mass": number(0, description="Apparent mass of the bare device, kg."),
            "rate": number(0, description="Rate of the loop, Hz."),
            "sample_age": number(0, description="Age of the samples that a force answers to, s."),
            "position_lag": number(0, description="How late a force answers to the position, s."),
            "velocity_lag": number(0, description="How late a force answers to the velocity, s."),
            "reason": TEXT,
        }
    ),
    path=SEVERAL_MOVERS,
    results=("device_id",),
)
AREA: Final = MotorArea("rendering")


def routes() -> Iterator[Route]:
    """Yield the route."""
    about = "Stiffness (N/m) and damping (N·s/m) that a device bears now of what the loop renders, and why; kg, Hz, s."
    yield Route("GET", "/{device}/{id}/rendering", read_rendering, about, schema=RENDERING)


async def read_rendering(call: Call) -> Answer:
    """Return what each device bears now: it falls with the age of its samples at once, and rises again within 0.5 s."""
    found = find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(AREA)
    return await values_of(call.vocabulary, [_read(call, record) for record in found.records])


def _read(call: Call, record: DeviceRecord) -> Act:
    async def run() -> Mapping[str, object]:
        system = call.bridge.system
        return {
            "device_id": record.device_id,
            **shown(system.runtime, record, force_scale(record, system.settings.value)),
        }

    return Act({"device_id": record.device_id}, run)


def shown(runtime: Runtime, record: DeviceRecord, scale: float) -> dict[str, object]:
    """Return what a device bears under a force scale; all 0 until the loop has seen it."""
    dynamics = record.identity.kind.spec.dynamics
    mass = 0.0 if dynamics is None else dynamics.mass
    rate = float(runtime.loop_state()["target_frequency"])
    bounds = runtime.reader(record.lease).rendering_bounds(mass / max(1.0, scale))
    age = max(0.0, bounds.position_lag - PERIODS / rate) if rate > 0 else 0.0
    return {
        "stiffness": bounds.stiffness,
        "stiffness_damping": bounds.stiffness_damping,
        "damping": bounds.damping,
        "mass": mass,
        "rate": rate,
        "sample_age": age,
        "position_lag": bounds.position_lag,
        "velocity_lag": bounds.velocity_lag,
        "reason": reason(bounds.position_lag, age),
    }


def reason(lag: float, age: float) -> str:
    """Return what bounds the stiffness, and what would raise it; `lag` of the position and `age` of its sample, s."""
    if not lag > 0:
        return "The loop has not seen the device yet: ask again."
    of_loop = lag - age
    parts = (
        f"A force answers to a position {1e3 * lag:.2f} ms old: {1e3 * age:.2f} ms of that is the age of the sample, "
        f"{1e3 * of_loop:.2f} ms the loop's rate."
    )
    if age > of_loop:
        return f"{parts} Newer samples would bear more: see the device's link rate and its cable."
    return f"{parts} A faster loop would bear more: raise control/frequency."
