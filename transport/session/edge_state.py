"""Edge state shared by all open sessions: published snapshots, modules, position holders, texts of devices and limits of hints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from actors.modules.registry import ModuleRegistry
from transport.session.position_holders import PositionHolders
from transport.wire.device_texts import DeviceTexts
from transport.wire.hint_limit import HintLimit

if TYPE_CHECKING:
    from actors.device.api import Inventory
    from actors.port.api import PortTable
    from actors.session.api import SessionTable
    from actors.settings.api import SettingsView
    from actors.system import System


class EdgeState(ABC):
    """Main thread only; `transport.bridge.Bridge` adds the open channels and `ask`."""

    def __init__(self, system: System, modules: ModuleRegistry | None = None) -> None:
        """`modules` None: the built-in ones."""
        self.system = system
        self.modules = modules or ModuleRegistry()
        self.holders = PositionHolders()
        self.slow_hints = HintLimit()
        self.device_texts = DeviceTexts()

    @abstractmethod
    def scale_output(self, session_id: int, gain: float) -> None:
        """Scale a session's output by `gain` (0 to 1); no effect when it is not open."""

    @property
    def inventory(self) -> Inventory:
        """The published inventory."""
        return self.system.inventory.value

    @property
    def ports(self) -> PortTable:
        """The published port table: ports that were seen or are blocked."""
        return self.system.ports.value

    @property
    def sessions(self) -> SessionTable:
        """The published table of open sessions."""
        return self.system.sessions.value

    @property
    def settings(self) -> SettingsView:
        """The published view of all settings."""
        return self.system.settings.value
