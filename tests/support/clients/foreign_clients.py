"""Example clients that use only the public vocabulary; each is a program of its own.

python -m tests.support.clients.foreign_clients force_loop|driver_node|driver_node_of_all|grip_reader URL
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any, Final

import websockets
from websockets.sync.client import connect

ANCHOR: Final = {"x": 0.02, "y": -0.13, "z": 0.17}
STIFFNESS: Final = 12.5
FRAMES: Final = 200
GRIP: Final = "1605"


def force_loop(url: str) -> str:
    """A spring towards a point: waits for the first frame, takes the first arm from it, then sends a force for each frame."""

    async def run() -> str:
        async with websockets.connect(url) as socket:
            device: Any = json.loads(await socket.recv())["inverse3"][0]
            for _ in range(FRAMES):
                at = device["state"]["cursor_position"]
                force = {axis: STIFFNESS * (ANCHOR[axis] - at[axis]) for axis in ANCHOR}
                command = {"set_cursor_force": {"vector": force}}
                order = {"inverse3": [{"device_id": device["device_id"], "commands": command}]}
                await socket.send(json.dumps(order))
                device = json.loads(await socket.recv())["inverse3"][0]
        return str(device["device_id"])

    return asyncio.run(run())


def driver_node(url: str) -> str:
    """A driver that speaks first and in bytes: asks for the arms in full, takes the first arm that comes, and streams a force."""
    return _drive(url, {"device_types": ["inverse3"]})


def driver_node_of_all(url: str) -> str:
    """The same, but asks for all devices in full, which names none."""
    return _drive(url, {})


def grip_reader(url: str) -> str:
    """Knows the id of its grip, speaks first, and reads orientation and buttons."""
    with connect(url) as socket:
        for index in range(FRAMES):
            command: dict[str, object] = {"keep_alive": True} if index % 2 else {"probe_orientation": {}}
            socket.send(json.dumps({"wireless_verse_grip": [{"device_id": GRIP, "commands": command}]}))
        read: list[Any] = []
        while len(read) < FRAMES:
            frame = json.loads(socket.recv())
            read += [one["state"]["orientation"] for one in frame.get("wireless_verse_grip", [])]
    return GRIP


def _drive(url: str, request: dict[str, Any]) -> str:
    with connect(url) as node:
        node.send(json.dumps({"session": {"force_render_full_state": request}}).encode())
        arms: list[Any] = []
        while not arms:
            arms = json.loads(node.recv()).get("inverse3", [])
        name = str(arms[0]["device_id"])
        for _ in range(FRAMES):
            command = {"set_cursor_force": {"values": {"x": 0.0, "y": 0.25, "z": 0.0}}}
            node.send(json.dumps({"inverse3": [{"device_id": name, "commands": command}]}).encode())
            node.recv()
    return name


CLIENTS: Final[dict[str, Callable[[str], str]]] = {
    client.__name__: client for client in (force_loop, driver_node, driver_node_of_all, grip_reader)
}

if __name__ == "__main__":
    sys.stdout.write(f"worked with {CLIENTS[sys.argv[1]](sys.argv[2])}\n")
