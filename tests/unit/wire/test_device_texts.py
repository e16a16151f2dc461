"""Kept texts of devices are those that would be made now, after any sequence of changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.device.messages import Bond, DeviceWide, Inventory, Phase
from actors.device.params import device_params
from actors.session.messages import CUSTOM, Damping, SessionConfig
from actors.settings.messages import SettingsView
from actors.values.spatial import Basis, Transform
from fastpath.arena.runtime import Runtime
from fastpath.text.encoder import encode_json
from tests.support.actors.doubles import settings_view, simulated_records
from transport.wire import device_texts, frames
from transport.wire.device_texts import DeviceTexts
from transport.wire.vocabulary import INVERSE, NEUTRAL, Vocabulary

ALL: Final = ("arm", "compact", "grip", "grip:wired", "pen")
RUNTIME: Final = Runtime(stepping=True, realtime=False)
RECORDS: Final = simulated_records(RUNTIME, *ALL)
for _record in RECORDS:
    RUNTIME.publish_device(_record.lease, device_params(_record, 1))

RAW: Final[tuple[dict[str, object], ...]] = (
    {},
    {"serialization/explicit_fields": True},
    {"serialization/force_complete_transforms": True},
    {"serialization/status_safety": True},
    {"devices/haptic*/filters/force_gate/gain": 0.7},
)
VIEWS: Final = tuple(settings_view(raw) for raw in RAW)
VERSIONS: Final = ("3.0", "3.1")

Change: TypeAlias = "Callable[[Service], None]"


class Service:
    """Snapshots that change as those of a service do: a change replaces an immutable object."""

    def __init__(self) -> None:
        self.inventory = Inventory(RECORDS)
        self.settings: SettingsView = VIEWS[0]
        self.configs = [SessionConfig(), SessionConfig(profile="b")]

    def change_record(self, at: int, **changed: Any) -> None:
        records = list(self.inventory.devices)
        if records:
            records[at % len(records)] = replace(records[at % len(records)], **changed)
            self.inventory = Inventory(tuple(records))

    def set_phase(self, at: int, phase: Phase) -> None:
        self.change_record(at, phase=phase)

    def set_wide(self, at: int, wide: DeviceWide) -> None:
        self.change_record(at, wide=wide)

    def set_partner(self, at: int, partner: str | None) -> None:
        self.change_record(at, bond=Bond(partner))

    def set_stopped(self, at: int, stopped: bool) -> None:
        self.change_record(at, stopped=stopped)

    def keep_devices(self, number: int) -> None:
        self.inventory = Inventory(RECORDS[:number])

    def set_settings(self, view: SettingsView) -> None:
        self.settings = view

    def configure_device(self, session: int, at: int, **changed: Any) -> None:
        config, device_id = self.configs[session], RECORDS[at].device_id
        devices = {**config.devices, device_id: replace(config.device(device_id), **changed)}
        self.configs[session] = replace(config, devices=MappingProxyType(devices))

    def set_damping(self, session: int, at: int, value: float) -> None:
        self.configure_device(session, at, damping=Damping(value))

    def set_gate(self, session: int, at: int, value: float | None) -> None:
        self.configure_device(session, at, force_gate=value)

    def set_mount(self, session: int, at: int, x: float) -> None:
        self.configure_device(session, at, preset=CUSTOM, mount=Transform(position=(x, 0.0, 0.0)))

    def set_basis_of_device(self, session: int, at: int, text: str) -> None:
        self.configure_device(session, at, basis=Basis.parse(text))

    def set_basis(self, session: int, text: str) -> None:
        self.configs[session] = replace(self.configs[session], basis=Basis.parse(text))

    def set_freeform(self, session: int, freeform: bool) -> None:
        self.configs[session] = replace(self.configs[session], freeform=freeform)

    def tick(self) -> None:
        RUNTIME.step(3)


def call(method: Callable[..., None], **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Change]:
    """Return calls of a method of Service."""
    return st.builds(partial, st.just(method), **arguments)


at, session = st.integers(0, len(ALL) - 1), st.integers(0, 1)
small = st.sampled_from([0.0, -0.0, 0.5, 2.0])
wides = st.builds(
    DeviceWide,
    handedness=st.sampled_from(["left", "right"]),
    torque_scaling=st.booleans(),
    gravity_scale=small,
    home_return=st.booleans(),
)
bases = st.sampled_from(["XYZ", "X-ZY", "YXZ"])
changes = st.one_of(
    call(Service.set_phase, at=at, phase=st.sampled_from(Phase)),
    call(Service.set_wide, at=at, wide=wides),
    call(Service.set_partner, at=at, partner=st.sampled_from([None, "049D"])),
    call(Service.set_stopped, at=at, stopped=st.booleans()),
    call(Service.keep_devices, number=st.integers(0, len(RECORDS))),
    call(Service.set_settings, view=st.sampled_from(VIEWS)),
    call(Service.set_damping, session=session, at=at, value=small),
    call(Service.set_gate, session=session, at=at, value=st.one_of(st.none(), small)),
    call(Service.set_mount, session=session, at=at, x=small),
    call(Service.set_basis_of_device, session=session, at=at, text=bases),
    call(Service.set_basis, session=session, text=bases),
    call(Service.set_freeform, session=session, freeform=st.booleans()),
    call(Service.tick),
)


def shown(texts: DeviceTexts, now: Service, vocabulary: Vocabulary, version: str) -> list[object]:
    """Everything that the texts give for the present snapshots."""
    devices, more = now.inventory.devices, {RECORDS[0].device_id: b',"interruptions":{}'}
    snapshots = (RUNTIME, vocabulary, now.settings, version)
    return [
        texts.devices_json(now.inventory, *snapshots),
        texts.devices_json(now.inventory, *snapshots, None, more),
        *(texts.devices_json(now.inventory, *snapshots, config) for config in now.configs),
        *(texts.configs(devices, config, *snapshots[1:]) for config in now.configs),
        *(texts.members(record, *snapshots) for record in devices),
    ]


@pytest.mark.parametrize("most", [device_texts.MOST_CONFIGS, 3])
@settings(max_examples=60)
@given(st.lists(st.tuples(changes, st.sampled_from([NEUTRAL, INVERSE]), st.sampled_from(VERSIONS)), max_size=12))
def test_kept_text_is_the_new_one_after_any_changes(most: int, done: list[tuple[Change, Vocabulary, str]]) -> None:
    now, texts = Service(), DeviceTexts(most_configs=most)
    for change, vocabulary, version in done:
        change(now)

        kept = shown(texts, now, vocabulary, version)

        assert kept == shown(DeviceTexts(), now, vocabulary, version)
        assert texts.configs(now.inventory.devices, now.configs[0], vocabulary, now.settings, version) == {
            (vocabulary.group(one.kind, one.identity.connection), one.device_id): encode_json(
                frames.config_of(one, now.configs[0], vocabulary, now.settings, version)
            )
            for one in now.inventory.devices
        }


@pytest.mark.parametrize("vocabulary", [NEUTRAL, INVERSE])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("raw", [{}, {"serialization/timestamps": True}])
def test_members_are_those_of_the_device_in_the_list(
    vocabulary: Vocabulary, version: str, raw: dict[str, object]
) -> None:
    texts, view = DeviceTexts(), settings_view(raw)
    listed = json.loads(texts.devices_json(Inventory(RECORDS), RUNTIME, vocabulary, view, version))
    for record in RECORDS:
        group: Any = listed[vocabulary.group(record.kind, record.identity.connection)]
        entry = dict(group[record.device_id] if version == "3.0" else _entry(group, record.device_id))
        entry.pop("device_id", None)

        assert json.loads(b"{%b}" % texts.members(record, RUNTIME, vocabulary, view, version)) == entry


def _entry(group: list[dict[str, object]], device_id: str) -> dict[str, object]:
    (found,) = (one for one in group if one["device_id"] == device_id)
    return found


def test_state_of_this_moment_is_shown_at_each_call() -> None:
    texts, view = DeviceTexts(), settings_view({"serialization/timestamps": True})

    def tick() -> int:
        return int(json.loads(texts.devices_json(Inventory(RECORDS), RUNTIME, NEUTRAL, view))["tick"])

    before = tick()
    RUNTIME.step(5)

    assert tick() == before + 5
