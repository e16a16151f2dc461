"""Three sessions configure one device concurrently: none loses a value, and the device gets the merge of all three."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from actors.event.messages import HUB, Emit
from actors.kit.message import Message
from actors.session.messages import Change, SetBasis, SetDamping, SetForceGate, SetMount, SetPreset
from actors.values.spatial import Basis, PartialTransform
from tests.acceptance.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.http.session_scope import OpenScope

ARM = "A001"
ROUNDS = 1_000
LOOKS = 50
SOCKET_ROUNDS = 40
BASES = ("XYZ", "YZX", "XZ-Y", "-X-YZ")
PRESETS = ("defaults", "arm_front", "arm_front_centered", "led_front_centered")
ORIGINS = {"arm_front_centered": (0.0, -0.120, 0.135), "led_front_centered": (0.0, -0.120, 0.135)}
START: dict[str, Any] = {
    "basis": "XYZ",
    "preset": "defaults",
    "mount": (0.0, 0.0, 0.0),
    "damping": (0.0, 0.0, 0.0),
    "force_gate": 0.3,
}
SEEDS = (1, 2, 3)


@dataclass
class Model:
    """What one session must have, from what it sent alone."""

    areas: dict[str, Any] = field(default_factory=lambda: dict(START))

    def take(self, area: str, value: Any) -> None:
        self.areas[area] = value
        if area == "mount":
            self.areas["preset"] = "custom"
        elif self.areas["preset"] != "custom":
            self.areas["mount"] = mounted(self.areas["basis"], self.areas["preset"])


def mounted(basis: str, preset: str) -> tuple[float, ...]:
    """The position of the mount that puts the preset's origin at zero: its negative, in the basis."""
    origin = dict(zip("XYZ", ORIGINS.get(preset, (0.0, 0.0, 0.0)), strict=True))
    signs = {"XYZ": (1, 1, 1), "YZX": (1, 1, 1), "XZ-Y": (1, 1, -1), "-X-YZ": (-1, -1, 1)}[basis]
    letters = basis.replace("-", "")
    return tuple(0.0 - sign * origin[axis] for sign, axis in zip(signs, letters, strict=True))


def choice(rng: random.Random) -> tuple[str, Any]:
    """An area, and a value for it."""
    area = rng.choice(("basis", "preset", "mount", "damping", "force_gate"))
    three = tuple(rng.randrange(81) / 8 for _ in range(3))
    return area, {
        "basis": rng.choice(BASES),
        "preset": rng.choice(PRESETS),
        "mount": three,
        "damping": three,
        "force_gate": rng.randrange(9) / 8,
    }[area]


def change_of(area: str, value: Any) -> Change:
    match area:
        case "basis":
            return SetBasis(ARM, Basis.parse(value))
        case "preset":
            return SetPreset(ARM, value)
        case "mount":
            return SetMount(ARM, PartialTransform(position=value))
        case "damping":
            return SetDamping(ARM, 0.0, value)
        case _:
            return SetForceGate(ARM, value)


def as_json(area: str, value: Any) -> Any:
    match area:
        case "mount":
            return {"position": dict(zip("xyz", value, strict=True))}
        case "damping":
            return {"scalar": 0, "vector": dict(zip("xyz", value, strict=True))}
        case "force_gate":
            return {"gain": value}
        case _:
            return value


def shown_areas(config: Any) -> dict[str, Any]:
    """The areas of a `config`, as a model has them."""
    position = config["mount"].get("position", {"x": 0, "y": 0, "z": 0})
    vector = config["damping"].get("vector", {"x": 0, "y": 0, "z": 0})
    return {
        "basis": config["basis"]["permutation"],
        "preset": config["preset"],
        "mount": tuple(position.values()),
        "damping": tuple(config["damping"]["scalar"] + part for part in vector.values()),
        "force_gate": config["force_gate"]["gain"],
    }


def agree(shown: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(
        shown[area] == pytest.approx(value, abs=1e-6) if area in {"mount", "damping"} else shown[area] == value
        for area, value in wanted.items()
    )


def holds_merged(service: InProcessService, models: list[Model]) -> None:
    """AssertionError unless the arm is damped by the strongest of the three on each axis."""
    service.step(2)
    state = service.state(ARM)
    strongest = np.max([model.areas["damping"] for model in models], axis=0)
    assert list(state["force"]) == pytest.approx(list(-strongest * state["velocity"]), abs=1e-12)


@pytest.fixture
def updates(service: InProcessService, monkeypatch: pytest.MonkeyPatch) -> dict[int, list[list[str]]]:
    """Scopes of what each session was said to have changed, before the hub merges them."""
    heard: dict[int, list[list[str]]] = {}
    directory = service.system.context.directory
    tell = directory.tell

    def overheard(name: str, message: Message) -> bool:
        if name == HUB and isinstance(message, Emit) and message.kind == "session-updated":
            data: Any = message.data
            heard.setdefault(data["session_id"], []).append(list(data["scopes"]))
        return tell(name, message)

    monkeypatch.setattr(directory, "tell", overheard)
    return heard


def fresh(rng: random.Random, model: Model) -> tuple[str, Any]:
    """A choice that changes something."""
    while True:
        area, value = choice(rng)
        if model.areas[area] != value:
            return area, value


def scopes_of(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What an event must say, in the contract's words."""
    order = ("basis", "mount", "preset", "damping", "force_gate")
    return [f"config.{area}" for area in order if before[area] != after[area]]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_rounds_of_three_at_once_lose_nothing_and_merge_by_the_rule(
    service: InProcessService, join: Join, updates: dict[int, list[list[str]]], seed: int
) -> None:
    rng = random.Random(seed)
    clients = [join() for _ in range(3)]
    models = [Model() for _ in clients]
    scopes = [OpenScope(service.bridge, first["session_id"]) for _, first in clients]
    wanted: list[list[list[str]]] = [[], [], []]
    rounds = ROUNDS // len(SEEDS) + 1

    async def one(at: int, turns: int, change: Change) -> Any:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await scopes[at].configure((change,))

    async def three(order: list[tuple[int, int, Change]]) -> list[Any]:
        return await asyncio.gather(*(one(*entry) for entry in order))

    for round_number in range(rounds):
        order: list[tuple[int, int, Change]] = []
        for at in rng.sample(range(3), 3):
            before = dict(models[at].areas)
            area, value = fresh(rng, models[at])
            models[at].take(area, value)
            wanted[at].append(scopes_of(before, models[at].areas))
            order.append((at, rng.randrange(3), change_of(area, value)))

        service.await_edge(three(order))

        if round_number % (rounds // LOOKS) == 0:
            holds_merged(service, models)

    for (client, _), model in zip(clients, models, strict=True):
        full = client.ask({"session": {"force_render_full_state": {}}})
        assert agree(shown_areas(full["arm"][0]["config"]), model.areas)
    for (_, first), told in zip(clients, wanted, strict=True):
        assert updates[first["session_id"]] == [scopes for scopes in told if scopes]


def test_three_clients_at_once_over_their_sockets(service: InProcessService, http: HttpClient, join: Join) -> None:
    rng = random.Random(9)
    clients = [join() for _ in range(3)]
    models = [Model() for _ in clients]
    plans = [[choice(rng) for _ in range(SOCKET_ROUNDS)] for _ in clients]
    failures: list[BaseException] = []

    def play(client: RawWebSocket, model: Model, plan: list[tuple[str, Any]]) -> None:
        try:
            for area, value in plan:
                reply = client.ask({"arm": [{"device_id": ARM, "configure": {area: as_json(area, value)}}]})
                assert "errors" not in reply
                model.take(area, value)
        except BaseException as error:  # noqa: BLE001 - raised by the test's thread
            failures.append(error)

    threads = [
        threading.Thread(target=play, args=(client, model, plan))
        for (client, _), model, plan in zip(clients, models, plans, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    holds_merged(service, models)
    for (client, first), model in zip(clients, models, strict=True):
        full = client.ask({"session": {"force_render_full_state": {}}})["arm"][0]
        assert agree(shown_areas(full["config"]), model.areas)
        gate = http.get(f"/arm/{ARM}/config/filters/force_gate?session={first['session_id']}").data
        assert gate == {"gain": model.areas["force_gate"]}


@pytest.fixture(autouse=True)
def undamped(service: InProcessService) -> Iterator[None]:
    """What sessions damped has ended with them."""
    yield
    service.step(2)
    eventually(lambda: not np.any(service.state(ARM)["force"]), "the arm is free again")
