"""`/stop`: zero output on every device, latched until it is released; it acts first and is then made to survive a restart."""

from __future__ import annotations

from actors.device.messages import MANAGER, ReleaseStop, Stop, StopStatus
from actors.device.stop_latch import StopLatch
from actors.kit.errors import HapticError
from actors.settings.messages import STORE, ConfirmLedger
from transport.http.call import Answer, Call
from transport.security import audit

SECTION = "stop"


async def read_stop(call: Call) -> Answer:
    """What is stopped; `everything` holds for devices that are yet to come as well."""
    latch = StopLatch.from_json(call.bridge.system.ledger.section(SECTION))
    stopped = (record.device_id for record in call.bridge.inventory.devices if record.stopped and record.kind.moves)
    return _shown(StopStatus(latch.everything, tuple(stopped)))


async def stop_everything(call: Call) -> Answer:
    """Whatever the body says: a stop is never refused for its form."""
    status = await call.bridge.ask(MANAGER, Stop(None, call.peer))
    audit(call.peer, "-", "stop of everything")
    return await _remembered(call, status, "Everything is stopped")


async def release_everything(call: Call) -> Answer:
    """Let every device move again."""
    status = await call.bridge.ask(MANAGER, ReleaseStop(None, call.peer))
    audit(call.peer, "-", "stop of everything released")
    return await _remembered(call, status, "The stop is released")


async def _remembered(call: Call, status: StopStatus, done: str) -> Answer:
    """The answer once the disk has it; an error says that it holds all the same."""
    try:
        await call.bridge.ask(STORE, ConfirmLedger())
    except HapticError as error:
        error.sentence = f"{done}, but a restart would forget it. {error.sentence}"
        raise
    return _shown(status)


def _shown(status: StopStatus) -> Answer:
    stopped = status.everything or bool(status.device_ids)
    return Answer({"stopped": stopped, "everything": status.everything, "devices": list(status.device_ids)})
