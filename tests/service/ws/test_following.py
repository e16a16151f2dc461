"""Open sessions follow changes: devices reconnect or leave, settings change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.control.messages import FASTPATH
from actors.device.messages import Inventory, Phase
from actors.device.params import device_params
from actors.settings.messages import STORE, SetSetting
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.actor_faults import drain_actor
from tests.support.service.in_process_service import InProcessService

ARM = "A001"
UP = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}
MOVED = {"position": {"x": 1, "y": 2, "z": 3}}


def arm(**parts: Any) -> dict[str, Any]:
    return {"arm": [{"device_id": ARM, **parts}]}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[InProcessService]:
    with InProcessService(tmp_path / "state", stepping=True, settings={"simulation/settle_time": 0.01}) as running:
        yield running
        running.wait_for_sessions()


@pytest.fixture
def client(service: InProcessService) -> Iterator[RawWebSocket]:
    with RawWebSocket(service.ws) as peer:
        peer.frame()
        yield peer


def show(service: InProcessService, *, come_back: bool = False, **changes: Any) -> None:
    """The inventory shows the arm like this from now on, in a new slot's lease when it came back."""
    record = replace(service.device(ARM), **changes)
    if come_back:
        record = replace(record, lease=service.runtime.lease_device(ARM))
    assert service.runtime.publish_device(record.lease, device_params(record, 0))
    others = [one for one in service.system.inventory.value.devices if one.device_id != ARM]
    service.system.inventory.replace(Inventory((record, *others)))


async def say(service: InProcessService, key: str, value: object) -> None:
    await service.bridge.ask(STORE, SetSetting(key, value))


def force(frame: Any) -> float:
    return float(frame["arm"][0]["state"]["current_cursor_force"]["z"])


def test_returning_device_keeps_the_session_s_view_and_workspace(
    service: InProcessService, client: RawWebSocket
) -> None:
    client.ask(arm(configure={"basis": "XZ-Y"}, commands={"set_transform": {"transform": MOVED}, **UP}))
    service.step()

    show(service, come_back=True)
    service.wait(0.1)

    frame = client.ask({"session": {"force_render_full_state": {}}})
    assert frame["arm"][0]["config"]["basis"] == {"permutation": "XZ-Y"}
    assert frame["arm"][0]["state"]["transform"] == MOVED
    assert force(frame) == 0
    client.ask(arm(commands=UP))
    service.step()
    assert force(client.ask({})) == pytest.approx(1)
    assert service.state(ARM)["force"].tolist() == pytest.approx([0, -1, 0])


def test_settling_device_refuses_commands_by_name(service: InProcessService, client: RawWebSocket) -> None:
    show(service, phase=Phase.SETTLING)

    frame = client.ask(arm(commands=UP))

    assert [(error["path"], error["reason"][:8]) for error in frame["errors"]] == [
        ("arm[0].commands.set_cursor_force", "settling")
    ]
    service.step()
    assert client.ask({})["arm"][0]["status"]["ready"] is False

    show(service, phase=Phase.READY)
    assert "errors" not in client.ask(arm(commands=UP))


def test_removed_device_is_in_no_frame_and_takes_no_command(service: InProcessService, client: RawWebSocket) -> None:
    everything = service.system.inventory.value
    service.system.inventory.replace(Inventory(everything.devices[1:]))

    frame = client.ask(arm(commands=UP))

    assert frame["arm"] == []
    assert [error["path"] for error in frame["errors"]] == ["arm[0].device_id"]

    service.system.inventory.replace(everything)
    assert [entry["device_id"] for entry in client.ask({})["arm"]] == [ARM]


def test_frame_setting_applies_to_the_next_frame(service: InProcessService, client: RawWebSocket) -> None:
    assert client.ask({})["arm"][0]["state"]["transform"] == {}

    service.await_edge(say(service, "serialization/force_complete_transforms", True))

    assert list(client.ask({})["arm"][0]["state"]["transform"]) == ["position", "rotation", "scale"]


def test_vocabulary_setting_applies_to_new_sessions(service: InProcessService, client: RawWebSocket) -> None:
    service.await_edge(say(service, "serialization/vocabulary", "inverse"))

    assert "arm" in client.ask({})
    with RawWebSocket(service.ws) as other:
        assert "inverse3" in other.frame()


def test_timeout_setting_applies_to_open_sessions(service: InProcessService, client: RawWebSocket) -> None:
    service.await_edge(say(service, "sessions/command_timeout", 0.5))
    drain_actor(service.system.context.directory, FASTPATH)
    client.ask(arm(commands=UP))

    service.wait(0.4)

    assert force(client.ask({})) == pytest.approx(1)
