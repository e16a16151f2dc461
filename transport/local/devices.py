"""All devices of a local session: which of them its page commands, and what it may do with each. Main thread only."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from transport.session.devices import SessionDevices
from transport.session.stream_plan import takes
from transport.wire.vocabulary import NEUTRAL

if TYPE_CHECKING:
    from actors.session.api import SessionHandle
    from fastpath.local.seats import LocalSeat
    from transport.local.request import LocalRequest
    from transport.session.device import SessionDevice
    from transport.session.edge_state import EdgeState
    from transport.session.events import SessionEvents

REASONS: Final = MappingProxyType(
    {
        1: "its sequence is not above that of the record before, or not that of the cell",
        2: "it was made for another device, which had this slot before: copy `generation` of the state that you render",
        3: "it has a bit that is no command",
        4: "a number is not finite, or beyond 1e6",
    }
)


class LocalDevices(SessionDevices):
    """Devices of a session whose commands come from a page."""

    def __init__(
        self,
        edge: EdgeState,
        events: SessionEvents,
        handle: SessionHandle,
        version: str,
        seat: LocalSeat,
        request: LocalRequest,
    ) -> None:
        super().__init__(edge, events, handle.session_id, handle.lease, handle.config, (NEUTRAL,), version)
        self._seat = seat
        self._request = request
        self._begun = False
        self._counted: dict[int, int] = {}  # slot -> records
        self._refused: dict[int, int] = {}  # slot -> refused ones that were told

    @property
    def records(self) -> int:
        """Number of records that were taken or refused."""
        if self._begun:
            self._count()
        return sum(self._counted.values())

    def begin(self) -> None:
        """Hand the page to the loop, for each device that the client asked for."""
        self._begun = True
        self.update()

    def update(self) -> None:
        """Update devices and settings; attach what came and detach what left."""
        super().update()
        if self._begun:
            self._attach()

    def release(self) -> None:
        """Take nothing more from the page and revoke all writers: zero force at the next tick."""
        if self._begun:
            self._count()
        self._begun = False
        self._seat.close()
        super().release()

    def scale_output(self, gain: float) -> None:
        """Scale the session's output by `gain`, 0 to 1; at 0 held positions are released."""
        super().scale_output(gain)
        if gain == 0:
            self._seat.give_up_positions()

    def poll(self) -> None:
        """Attach what came, let the client begin to hold what nobody else holds, and tell of records that were refused."""
        self.update()
        for device in self._wanted():
            slot = device.writer.device
            if self._seat.wants_to_hold(slot) and self._gain > 0:
                self._let_hold(device)
            _, refused, reason = self._seat.answer(slot)
            if refused != self._refused.get(slot, 0):
                self._refused[slot] = refused
                self._events.faulty([(device.device_id, f"record refused: {REASONS.get(reason, 'unknown')}")], "")
        self._count()

    def _let_hold(self, device: SessionDevice) -> None:
        now_ns = self._edge.system.runtime.now_ns()
        hold = self._seat.hold(device.writer)
        holder = self._edge.holders.claim(device.device_id, self._session_id, hold, now_ns, self.timeout_ns)
        if holder is None:
            self._seat.allow_to_hold(device.writer.device)
        else:
            self._events.busy(device.record, holder)

    def _wanted(self) -> list[SessionDevice]:
        names = self._request.devices
        return [device for device in self.by_id.values() if names is None or device.device_id in names]

    def _attach(self) -> None:
        """Attach each device that the client asked for, and nothing else."""
        wanted = {device.writer.device: device for device in self._wanted() if device.has_motors}
        for slot in self._seat.devices:
            if slot not in wanted:
                self._seat.detach(slot)
        for device in wanted.values():
            if not device.writer.revoked:
                self._seat.attach(device.writer, takes(device) & self._request.commands)

    def _count(self) -> None:
        before = sum(self._counted.values())
        for device in self._wanted():
            taken, refused, _ = self._seat.answer(device.writer.device)
            self._counted[device.writer.device] = taken + refused
        self._edge.system.metrics.commands_received.inc(sum(self._counted.values()) - before)
