"""Devices, ports and metrics as a service answers them, read with care: anything may be missing or of another type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# One sample of the metrics page: name, labels, number.
SAMPLE: Final = re.compile(r"^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$", re.IGNORECASE)
LABEL: Final = re.compile(r'([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShownDevice:
    """One device of `GET /devices`."""

    kind: str  # arm, compact, grip, pen
    device_id: str
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name that people gave it, "" without one."""
        name = self.config.get("name")
        return name if isinstance(name, str) else ""

    @property
    def ready(self) -> bool:
        """Whether it can be used."""
        return self.status.get("ready") is True

    @property
    def moves(self) -> bool:
        """Whether it has a cursor and motors."""
        return "cursor_position" in self.state

    @property
    def firmware(self) -> str:
        """Version of its firmware, such as 7.5; "-" when it is not told."""
        told = part(self.config, "device_info") or self.config
        major, minor = told.get("major_version"), told.get("minor_version")
        return "-" if major is None else f"{major}.{minor}"


def part(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one otherwise."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def object_of(answer: Any) -> Mapping[str, Any]:
    """Return an answer that is an object; an empty one otherwise."""
    return answer if isinstance(answer, dict) else {}


def numbers(of: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """Return the numbers of a member such as `{"x": 1, "y": 2, "z": 3}`, in their order."""
    return tuple(
        float(value)
        for value in part(of, name).values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )


def entries(of: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a member that is a list."""
    found = of.get(name) if isinstance(of, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def devices_of(answer: Any) -> Iterator[ShownDevice]:
    """Yield the devices of `GET /devices`, or of a frame, in their order."""
    for kind, group in answer.items() if isinstance(answer, dict) else ():
        for entry in group if isinstance(group, list) else ():
            if isinstance(entry, dict) and "device_id" in entry:
                yield ShownDevice(
                    str(kind),
                    str(entry["device_id"]),
                    part(entry, "config"),
                    part(entry, "state"),
                    part(entry, "status"),
                )


def metrics_of(page: str) -> dict[tuple[str, str], float]:
    """Return the samples of a metrics page by name and the value of its first label, "" without one."""
    found: dict[tuple[str, str], float] = {}
    for line in page.splitlines():
        sample = SAMPLE.match(line)
        if sample is None:
            continue
        label = LABEL.match(sample[2] or "")
        try:
            found[sample[1], label[2] if label else ""] = float(sample[3])
        except ValueError:
            continue
    return found
