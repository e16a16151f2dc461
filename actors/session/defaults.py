"""The ledger section of the configuration that new sessions start with; profile and SDK version are not part of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from actors.session import navigation, scene
from actors.session.messages import Damping, DeviceConfig, NavigationConfig, SessionConfig
from actors.values.spatial import Basis, Transform


def as_json(config: SessionConfig) -> dict[str, object]:
    """Return the ledger section."""
    return {
        "basis": str(config.basis),
        "devices": {device_id: _device_json(device) for device_id, device in config.devices.items()},
    }


def from_json(value: object) -> SessionConfig:
    """Parse the ledger section; leave out what is invalid."""
    fields = _mapping(value)
    devices: dict[str, DeviceConfig] = {}
    for device_id, entry in _mapping(fields.get("devices")).items():
        try:
            devices[str(device_id)] = _device(_mapping(entry))
        except (TypeError, ValueError, KeyError):
            continue
    try:
        basis = Basis.parse(str(fields.get("basis", "XYZ")))
    except ValueError:
        basis = Basis()
    return SessionConfig(basis=basis, devices=MappingProxyType(devices))


def _device_json(device: DeviceConfig) -> dict[str, object]:
    return {
        "basis": None if device.basis is None else str(device.basis),
        "preset": device.preset,
        "mount": _parts(device.mount),
        "damping": [device.damping.scalar, *device.damping.vector],
        "force_gate": device.force_gate,
        "workspace": _parts(device.workspace),
        "navigation": navigation.as_json(device.navigation),
        **({"scene": scene.as_json(device.scene)} if device.scene else {}),
    }


def _device(fields: Mapping[str, Any]) -> DeviceConfig:
    basis, preset, gate = fields["basis"], fields["preset"], fields["force_gate"]
    scalar, dx, dy, dz = map(float, fields["damping"])
    return DeviceConfig(
        None if basis is None else Basis.parse(str(basis)),
        None if preset is None else str(preset),
        _transform(fields["mount"]),
        Damping(scalar, (dx, dy, dz)),
        None if gate is None else float(gate),
        _transform(fields["workspace"]) if "workspace" in fields else Transform(),
        navigation.from_json(_mapping(fields["navigation"])) if "navigation" in fields else NavigationConfig(),
        scene.from_json(fields.get("scene")),
    )


def _parts(transform: Transform) -> list[list[float]]:
    return [list(transform.position), list(transform.rotation), list(transform.scale)]


def _transform(parts: Any) -> Transform:
    position, rotation, scale = parts
    (px, py, pz), (w, x, y, z), (sx, sy, sz) = map(float, position), map(float, rotation), map(float, scale)
    return Transform((px, py, pz), (w, x, y, z), (sx, sy, sz))


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
