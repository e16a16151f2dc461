"""`config` of a frame in both vocabularies and versions, what may be sent back, order of groups."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import Bond, DeviceRecord, DeviceWide, Inventory, Phase
from actors.device.params import device_params
from actors.session import configure, presets
from actors.session.messages import Damping, DeviceConfig, SessionConfig, SetBasis, SetMount, SetPreset
from actors.session.profile import SessionMemory
from actors.values.identity import Firmware, Kind
from actors.values.spatial import ORIGIN, Basis, Transform
from fastpath.arena.runtime import Runtime
from fastpath.text.encoder import FrameEntry, encode_json
from tests.support.actors.doubles import inventory_of, settings_view, simulated_records
from transport.wire import commands, frames
from transport.wire.device_texts import DeviceTexts
from transport.wire.vocabulary import INVERSE, NEUTRAL, Vocabulary

ALL = ("arm", "compact", "grip", "grip:wired", "pen")
INVENTORY = inventory_of(*ALL)
ARM, COMPACT, WIRELESS, WIRED, PEN = INVENTORY.devices
SETTINGS = settings_view()
VOCABULARIES = [NEUTRAL, INVERSE]
VERSIONS = ["3.0", "3.1"]
BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]


def config_of(
    record: DeviceRecord,
    config: SessionConfig | None = None,
    vocabulary: Vocabulary = NEUTRAL,
    version: str = "3.1",
    raw: dict[str, object] | None = None,
) -> dict[str, Any]:
    """The `config` of one device as a client reads it."""
    settings = SETTINGS if raw is None else settings_view(raw)
    shown: dict[str, Any] = json.loads(
        encode_json(frames.config_of(record, config or SessionConfig(), vocabulary, settings, version))
    )
    return shown


def of_device(record: DeviceRecord, device: DeviceConfig, **session: Any) -> SessionConfig:
    return SessionConfig(devices=MappingProxyType({record.device_id: device}), **session)


# ---------------------------------------------------------------- what is shown


def test_the_config_of_an_arm_is_that_of_the_contract() -> None:
    identity = ARM.identity

    assert list(config_of(ARM).items()) == [
        ("type", "arm"),
        ("connection", "simulated"),
        ("port", "sim0"),
        (
            "device_info",
            {"major_version": 7, "minor_version": 5, "id": ARM.device_id, "device_type": 4, "uuid": identity.uuid},
        ),
        ("extended_device_id", identity.uuid),
        ("extended_firmware_version", "00070005" + "0" * 24),
        ("handedness", "right"),
        ("streaming_mode", "USB"),
        ("gravity_compensation", {"enabled": True, "scaling_factor": 1}),
        ("torque_scaling", {"enabled": True}),
        ("home_return", {"enabled": False}),
        ("preset", "defaults"),
        ("basis", {"permutation": "XYZ"}),
        ("mount", {}),
        ("force_gate", {"gain": 0.3}),
        ("damping", {"scalar": 0}),
        ("paired_with", None),
    ]


def test_filters_are_nested_in_inverse_vocabulary() -> None:
    shown = config_of(ARM, vocabulary=INVERSE)

    assert shown["filters"] == {"force_gate": {"gain": 0.3}, "damping": {"scalar": 0}}
    assert "force_gate" not in shown
    assert "damping" not in shown
    assert list(shown)[-2:] == ["filters", "paired_with"]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_the_info_of_the_older_frame_has_strings_and_a_model(vocabulary: Vocabulary) -> None:
    for record, model in ((ARM, 4), (COMPACT, 5)):
        assert config_of(record, vocabulary=vocabulary, version="3.0")["device_info"] == {
            "firmware_version": "7.5",
            "hardware_version": "1",
            "model": model,
            "id": record.device_id,
            "uuid": record.identity.uuid,
        }
        assert config_of(record, vocabulary=vocabulary)["device_info"]["device_type"] == model


@pytest.mark.parametrize(
    ("record", "neutral", "inverse", "connection"),
    [
        (ARM, "arm", "inverse3", "simulated"),
        (COMPACT, "compact", "minverse", "simulated"),
        (WIRELESS, "grip", "wireless_verse_grip", "wireless"),
        (WIRED, "grip", "verse_grip", "wired"),
        (PEN, "pen", "custom_verse_grip", "simulated"),
    ],
)
def test_types_and_connections_are_translated(
    record: DeviceRecord, neutral: str, inverse: str, connection: str
) -> None:
    for version in VERSIONS:
        for vocabulary, word in ((NEUTRAL, neutral), (INVERSE, inverse)):
            shown = config_of(record, vocabulary=vocabulary, version=version)
            assert (shown["type"], shown["connection"]) == (word, connection)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_grip_shows_its_versions_and_its_partner(vocabulary: Vocabulary, version: str) -> None:
    shown = config_of(replace(WIRELESS, bond=Bond("049D")), vocabulary=vocabulary, version=version)

    assert list(shown.items())[2:] == [
        ("port", "sim2"),
        ("major_version", 1),
        ("minor_version", 4),
        ("hardware_version", 1),
        ("basis", {"permutation": "XYZ"}),
        ("paired_with", "049D"),
    ]


@pytest.mark.parametrize("record", [WIRELESS, WIRED, PEN])
def test_basis_of_a_device_without_motors_is_its_own_or_the_sessions(record: DeviceRecord) -> None:
    own = of_device(record, DeviceConfig(basis=Basis.parse("YZX")), basis=Basis.parse("X-YZ"))

    assert config_of(record, own)["basis"] == {"permutation": "YZX"}
    assert config_of(record, SessionConfig(basis=Basis.parse("X-YZ")))["basis"] == {"permutation": "X-YZ"}


def test_device_wide_configuration_is_shown() -> None:
    wide = DeviceWide("left", torque_scaling=False, gravity_compensation=False, gravity_scale=0.5, home_return=True)

    shown = config_of(replace(ARM, wide=wide, bond=Bond("1605")))

    assert shown["handedness"] == "left"
    assert shown["torque_scaling"] == {"enabled": False}
    assert shown["gravity_compensation"] == {"enabled": False, "scaling_factor": 0.5}
    assert shown["home_return"] == {"enabled": True}
    assert shown["paired_with"] == "1605"


def test_firmware_is_shown_as_its_version() -> None:
    record = replace(ARM, identity=replace(ARM.identity, firmware=Firmware(7, 10)))

    assert config_of(record)["device_info"]["minor_version"] == 10
    assert config_of(record, version="3.0")["device_info"]["firmware_version"] == "7.10"
    assert config_of(record)["extended_firmware_version"] == "0007000A" + "0" * 24
    assert len(config_of(record)["extended_firmware_version"]) == 32


def test_gate_is_that_of_the_most_specific_setting() -> None:
    family, kind, own = (f"devices/{who}/filters/force_gate/gain" for who in ("haptic*", "arm", ARM.device_id))

    assert config_of(ARM, raw={family: 0.5})["force_gate"] == {"gain": 0.5}
    assert config_of(ARM, raw={family: 0.5, kind: 0.25})["force_gate"] == {"gain": 0.25}
    assert config_of(ARM, raw={family: 0.5, kind: 0.25, own: 0.125})["force_gate"] == {"gain": 0.125}
    assert config_of(COMPACT, raw={family: 0.5, kind: 0.25})["force_gate"] == {"gain": 0.5}


def test_basis_is_the_device_s_or_the_session_s() -> None:
    session = SessionConfig(basis=Basis.parse("YZX"))
    own = of_device(ARM, DeviceConfig(basis=Basis.parse("XZ-Y")), basis=Basis.parse("YZX"))

    assert config_of(ARM, session)["basis"] == {"permutation": "YZX"}
    assert config_of(ARM, own)["basis"] == {"permutation": "XZ-Y"}
    assert config_of(COMPACT, own)["basis"] == {"permutation": "YZX"}


@pytest.mark.parametrize(
    ("preset", "inverse"),
    [("compact_zup", "minverse_zup"), ("compact_centered", "minverse_centered"), ("custom", "custom")],
)
def test_preset_name_is_translated(preset: str, inverse: str) -> None:
    config = of_device(COMPACT, DeviceConfig(preset=preset))

    assert config_of(COMPACT, config)["preset"] == preset
    assert config_of(COMPACT, config, INVERSE)["preset"] == inverse


# ---------------------------------------------------------------- transforms

PARTS = {
    "position": {"x": 1.0, "y": 2.0, "z": 3.0},
    "rotation": {"w": 0.0, "x": 1.0, "y": 0.0, "z": 0.0},
    "scale": {"x": 2.0, "y": 2.0, "z": 1.0},
}


def transform(parts: tuple[str, ...]) -> Transform:
    return Transform(
        (1, 2, 3) if "position" in parts else (0, 0, 0),
        (0, 1, 0, 0) if "rotation" in parts else (1, 0, 0, 0),
        (2, 2, 1) if "scale" in parts else (1, 1, 1),
    )


@pytest.mark.parametrize("parts", [part for count in range(4) for part in itertools.combinations(PARTS, count)])
def test_identity_parts_are_omitted_by_default(parts: tuple[str, ...]) -> None:
    assert frames.transform_json(transform(parts), complete=False) == {name: PARTS[name] for name in parts}
    whole = frames.transform_json(transform(parts), complete=True)
    assert list(whole) == ["position", "rotation", "scale"]
    assert {name: whole[name] for name in parts} == {name: PARTS[name] for name in parts}


def test_rotation_keys_are_ordered_w_x_y_z() -> None:
    assert list(frames.transform_json(Transform(), complete=True)["rotation"]) == ["w", "x", "y", "z"]


def test_negative_zero_counts_as_identity() -> None:
    assert frames.transform_json(Transform((-0.0, 0.0, -0.0)), complete=False) == {}


@pytest.mark.parametrize("key", ["serialization/explicit_fields", "serialization/force_complete_transforms"])
def test_either_setting_completes_a_mount(key: str) -> None:
    assert list(config_of(ARM, raw={key: True})["mount"]) == ["position", "rotation", "scale"]


def test_explicit_fields_include_a_zero_damping_vector() -> None:
    assert config_of(ARM)["damping"] == {"scalar": 0}
    shown = config_of(ARM, raw={"serialization/explicit_fields": True})["damping"]
    assert shown == {"scalar": 0, "vector": {"x": 0, "y": 0, "z": 0}}


# ---------------------------------------------------------------- what may be sent back

finite = st.floats(-10, 10, width=32)
mounts = st.builds(
    Transform,
    st.tuples(finite, finite, finite),
    st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, -0.5, 0.5), (0.0, 0.0, 0.0, -1.0), (0.6, 0.0, 0.8, 0.0)]),
    st.tuples(*[st.floats(0.125, 8, width=32)] * 3),
)


def sent_back(record: DeviceRecord, vocabulary: Vocabulary, **parts: Any) -> SessionConfig:
    """A new session's configuration once a client has sent these parts of a `config` as `configure`."""
    group = vocabulary.group(record.kind, record.identity.connection)
    message = {group: [{"device_id": record.device_id, "configure": parts}]}
    found = commands.read(json.dumps(message), targets(SessionConfig()), vocabulary)
    assert found.faults == []
    applied = configure.apply(SessionConfig(), found.changes, configure.ValidationContext(INVENTORY, SessionMemory()))
    assert applied.refused == ()
    return applied.config


class Target:
    """A device as reading sees it."""

    def __init__(self, record: DeviceRecord, config: SessionConfig) -> None:
        self.device_id = record.device_id
        self.kind = record.kind
        self.has_motors = record.kind.has_motors
        self.has_cursor = record.kind.has_cursor
        self.accepts = True
        self.refusal = "settling"
        self.preset = presets.preset_of(config, record)
        self.mount = presets.mount_of(config, record)
        self.wide = record.wide
        self.name = record.name
        self.paired_with = record.paired_with


def targets(config: SessionConfig) -> dict[str, Target]:
    return {record.device_id: Target(record, config) for record in INVENTORY.devices}


@given(st.sampled_from(BASES), mounts, st.sampled_from([ARM, COMPACT]))
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_shown_mount_and_basis_round_trip(
    vocabulary: Vocabulary, version: str, basis: Basis, mount: Transform, record: DeviceRecord
) -> None:
    config = of_device(record, DeviceConfig(basis, "custom", mount))
    shown = config_of(record, config, vocabulary, version)

    back = sent_back(record, vocabulary, basis=shown["basis"], mount=shown["mount"]).device(record.device_id)

    assert (back.basis, back.preset) == (basis, "custom")
    assert back.mount.position == pytest.approx(mount.position, rel=1e-6)
    assert back.mount.rotation == pytest.approx(mount.rotation, abs=1e-6)
    assert back.mount.scale == pytest.approx(mount.scale, rel=1e-6)
    again = config_of(record, of_device(record, back), vocabulary, version)
    assert (again["mount"], again["basis"], again["preset"]) == (shown["mount"], shown["basis"], "custom")


@given(st.sampled_from(BASES), st.data())
@pytest.mark.parametrize("record", [ARM, COMPACT])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_shown_preset_and_basis_round_trip(
    vocabulary: Vocabulary, record: DeviceRecord, basis: Basis, data: st.DataObject
) -> None:
    preset = data.draw(st.sampled_from([name for name in presets.preset_names(record.kind) if name != "custom"]))
    device = DeviceConfig(basis, preset)
    shown = config_of(record, of_device(record, device), vocabulary)

    back = sent_back(record, vocabulary, preset=shown["preset"], basis=shown["basis"])

    assert back.device(record.device_id) == device


gains = st.none() | st.sampled_from([0.0, 0.1, 1.0])
dampings = st.builds(Damping, st.sampled_from([0.0, 0.3, 20.0]), st.sampled_from([ORIGIN, (0.1, 0.0, 7.0)]))
shapes_of_space = st.one_of(
    st.tuples(st.none() | st.sampled_from(["defaults", "arm_front", "arm_front_centered"]), st.just(Transform())),
    st.tuples(st.just("custom"), mounts),
)


@given(st.sampled_from(BASES), shapes_of_space, dampings, gains, st.booleans(), st.sampled_from([ARM, COMPACT]))
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_config_sent_back_changes_nothing(
    vocabulary: Vocabulary,
    version: str,
    basis: Basis,
    space: tuple[str | None, Transform],
    damping: Damping,
    gain: float | None,
    complete: bool,
    record: DeviceRecord,
) -> None:
    raw: dict[str, object] = {"serialization/force_complete_transforms": complete}
    config = of_device(record, DeviceConfig(basis, *space, damping, gain))
    shown = config_of(record, config, vocabulary, version, raw)
    group = vocabulary.group(record.kind, record.identity.connection)

    found = commands.read(
        json.dumps({group: [{"device_id": record.device_id, "configure": shown}]}), targets(config), vocabulary
    )
    applied = configure.apply(config, found.changes, configure.ValidationContext(INVENTORY, SessionMemory()))

    assert (found.faults, applied.refused) == ([], ())
    assert config_of(record, applied.config, vocabulary, version, raw) == shown


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("record", [WIRELESS, WIRED, PEN])
@pytest.mark.parametrize("basis", [Basis(), Basis.parse("-ZYX")])
def test_config_of_a_device_without_motors_can_be_sent_back(
    vocabulary: Vocabulary, record: DeviceRecord, basis: Basis
) -> None:
    config = of_device(record, DeviceConfig(basis=basis))
    shown = config_of(record, config, vocabulary)
    group = vocabulary.group(record.kind, record.identity.connection)

    found = commands.read(
        json.dumps({group: [{"device_id": record.device_id, "configure": shown}]}), targets(config), vocabulary
    )
    applied = configure.apply(config, found.changes, configure.ValidationContext(INVENTORY, SessionMemory()))

    assert (found.faults, applied.refused, applied.scopes) == ([], (), ())
    assert config_of(record, applied.config, vocabulary) == shown


@pytest.mark.parametrize(
    "change",
    [
        {"preset": "arm_front"},
        {"preset": "defaults"},
        {"preset": 1},
        {"mount": {}},
        {"mount": {"position": {"x": 0, "y": 0.12, "z": -0.13499}}},
        {"mount": {"position": {"x": 0, "y": 0.12, "z": -0.135}, "scale": 2}},
        {"mount": 1},
    ],
)
def test_changed_mount_and_preset_in_a_config_are_both_refused(change: dict[str, Any]) -> None:
    config = of_device(ARM, DeviceConfig(preset="arm_front_centered"))
    shown = config_of(ARM, config) | change | {"basis": "XZ-Y"}

    found = commands.read(
        json.dumps({"arm": [{"device_id": ARM.device_id, "configure": shown}]}), targets(config), NEUTRAL
    )

    assert sorted(path for path, _ in found.faults) == ["arm[0].configure.mount", "arm[0].configure.preset"]
    kinds = {type(each) for each in found.changes}
    assert SetBasis in kinds
    assert not kinds & {SetMount, SetPreset}


# ---------------------------------------------------------------- filters


def test_session_gate_precedes_the_setting() -> None:
    own = of_device(ARM, DeviceConfig(force_gate=0.75))

    assert config_of(ARM, own, raw={"devices/haptic*/filters/force_gate/gain": 0.5})["force_gate"] == {"gain": 0.75}
    assert config_of(ARM, of_device(ARM, DeviceConfig(force_gate=0.0)))["force_gate"] == {"gain": 0}
    assert config_of(COMPACT, own)["force_gate"] == {"gain": 0.3}


def test_damping_vector_is_shown_if_set() -> None:
    assert config_of(ARM, of_device(ARM, DeviceConfig(damping=Damping(2))))["damping"] == {"scalar": 2}
    assert config_of(ARM, of_device(ARM, DeviceConfig(damping=Damping(0, (0, 1, 2)))), INVERSE)["filters"][
        "damping"
    ] == {
        "scalar": 0,
        "vector": {"x": 0, "y": 1, "z": 2},
    }


@pytest.mark.parametrize("preset", [None, "arm_front_centered", "compact_zup"])
@pytest.mark.parametrize("basis", [Basis(), Basis.parse("XZ-Y")])
def test_the_mount_of_a_built_in_preset_is_shown_for_the_basis_in_force(preset: str | None, basis: Basis) -> None:
    config = of_device(COMPACT, DeviceConfig(preset=preset, mount=Transform((9, 9, 9))), basis=basis)

    shown = config_of(COMPACT, config, raw={"serialization/force_complete_transforms": True})["mount"]["position"]

    assert tuple(shown.values()) == pytest.approx(presets.mount_of(config, COMPACT).position)
    assert tuple(shown.values()) != (9, 9, 9)


# ---------------------------------------------------------------- groups and encoders


def test_groups_keep_their_order_and_their_devices_order() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    records = simulated_records(runtime, "pen", "grip", "compact", "arm", "grip:wired", "arm")

    def entry(record: DeviceRecord) -> FrameEntry:
        return FrameEntry(record.device_id, 1, runtime.reader(record.lease), None)

    def shown(vocabulary: Vocabulary) -> list[tuple[str, list[str]]]:
        return [
            (name, [one.device_id for one in entries]) for name, entries in frames.grouped(records, vocabulary, entry)
        ]

    pen, wireless, compact, arm, wired, other = (record.device_id for record in records)
    assert shown(NEUTRAL) == [
        ("arm", [arm, other]),
        ("compact", [compact]),
        ("grip", [wireless, wired]),
        ("pen", [pen]),
    ]
    assert shown(INVERSE) == [
        ("inverse3", [compact, arm, other]),
        ("verse_grip", [wired]),
        ("wireless_verse_grip", [wireless]),
        ("custom_verse_grip", [pen]),
    ]


def test_groups_without_devices_are_present() -> None:
    def nobody(_record: DeviceRecord) -> FrameEntry:
        raise AssertionError

    for vocabulary in VOCABULARIES:
        assert frames.grouped((), vocabulary, nobody) == [(name, []) for name in vocabulary.groups()]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_devices_without_a_session_are_in_device_space(vocabulary: Vocabulary, version: str) -> None:
    runtime = Runtime(stepping=True, realtime=False)
    records = simulated_records(runtime, *ALL)

    shown = json.loads(DeviceTexts().devices_json(Inventory(records), runtime, vocabulary, SETTINGS, version))

    assert list(shown) == list(vocabulary.groups())
    entries = {
        entry_id: entry
        for group in shown.values()
        for entry_id, entry in (group.items() if version == "3.0" else ((entry["device_id"], entry) for entry in group))
    }
    assert set(entries) == {record.device_id for record in records}
    for record in records:
        entry = entries[record.device_id]
        assert entry["config"] == config_of(record, vocabulary=vocabulary, version=version)
        assert ("battery_level" in entry["state"]) == (record.identity.connection == "wireless")
        assert "state" in entry
        assert "status" in entry


@pytest.mark.parametrize("word", ["arm", "grip", "pen"])
def test_device_not_settled_is_never_ready_in_a_frame(word: str) -> None:
    runtime = Runtime(stepping=True, realtime=False)
    (record,) = simulated_records(runtime, word)
    runtime.publish_device(record.lease, device_params(record, 1))
    runtime.step(2)

    def ready(phase: Phase) -> bool:
        inventory = Inventory((replace(record, phase=phase),))
        groups = json.loads(DeviceTexts().devices_json(inventory, runtime, NEUTRAL, SETTINGS))
        (shown,) = groups[word]
        return bool(shown["status"]["ready"])

    assert [phase for phase in Phase if ready(phase)] == [Phase.READY, Phase.ASLEEP]


@pytest.mark.parametrize(
    ("key", "place", "shown"),
    [
        ("serialization/timestamps", (), "tick"),
        ("serialization/status_safety", ("arm", 0, "status"), "safety"),
        ("serialization/force_complete_transforms", ("arm", 0, "state", "transform"), "scale"),
        ("serialization/explicit_fields", ("arm", 0, "state", "transform"), "scale"),
    ],
)
def test_each_setting_of_serialization_shows_in_frames(key: str, place: tuple[str | int, ...], shown: str) -> None:
    runtime = Runtime(stepping=True, realtime=False)
    inventory = Inventory(simulated_records(runtime, "arm"))

    def holds(raw: dict[str, object]) -> bool:
        found = json.loads(DeviceTexts().devices_json(inventory, runtime, NEUTRAL, settings_view(raw)))
        for step in place:
            found = found[step]
        return shown in found

    assert holds({key: True})
    assert not holds({})


def test_every_kind_with_motors_has_a_device_type() -> None:
    assert set(frames.DEVICE_TYPES) == {kind for kind in Kind if kind.has_motors}
