"""Build the force messages that a benchmark's clients send to the simulated arm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

GROUP: Final = "arm"


def force_messages(frame: Mapping[str, Any]) -> list[str]:
    """Return messages with small forces around a circle, of about equal length, for the first arm of a full frame."""
    device_id = frame[GROUP][0]["device_id"]
    corners = [(0.2134567, 0.1345678), (-0.1345678, 0.2134567), (-0.2134567, -0.1345678), (0.1345678, -0.2134567)]
    return [
        json.dumps(
            {
                GROUP: [
                    {"device_id": device_id, "commands": {"set_cursor_force": {"vector": {"x": x, "y": y, "z": 0.1}}}}
                ]
            }
        )
        for x, y in corners
    ]
