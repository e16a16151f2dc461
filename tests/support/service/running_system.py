"""The service inside the test's process for tests that break parts of it, with what such tests check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from actors.device.messages import DeviceRecord, SimulatedSpec
from actors.kit.directory import Directory
from tests.support.clients.exchange import Reply, exchange
from tests.support.service.in_process_service import ARM_AND_GRIP, InProcessService

# A slow loop leaves the processors to the tests; its rate is not what they are about.
CALM: Final = {"control/frequency": 1000, "simulation/settle_time": 0.05}


class RunningSystem(InProcessService):
    """Context manager: everything answers inside, and has ended behind."""

    def __init__(
        self,
        folder: Path,
        *,
        simulated: tuple[SimulatedSpec, ...] = ARM_AND_GRIP,
        settings: Mapping[str, object] | None = None,
        local: bool = False,
    ) -> None:
        """`folder` is the state directory; `settings` go on top of CALM, None leaves one to the state directory."""
        chosen = {**CALM, **(settings or {})}
        super().__init__(
            folder,
            simulated=simulated,
            settings={key: value for key, value in chosen.items() if value is not None},
            local=local,
        )

    @property
    def directory(self) -> Directory:
        """Return the directory of actors."""
        return self.system.context.directory

    @property
    def arm(self) -> DeviceRecord:
        """The first device."""
        return self.system.inventory.value.devices[0]

    def shown(self, record: DeviceRecord) -> Any:
        """Return the loop's state of a device, also of one that has left the inventory."""
        return self.runtime.reader(record.lease).snapshot()

    def force(self, record: DeviceRecord | None = None) -> tuple[float, ...]:
        """The force (N) that the loop applied at its last tick, to the arm unless another device is given."""
        return tuple(float(part) for part in self.shown(self.arm if record is None else record)["force"])

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric, 0 when it was never touched."""
        return self.system.metrics.registry.get_sample_value(name, labels) or 0.0

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        """One HTTP exchange."""
        return exchange(self.http, method, path, body)
