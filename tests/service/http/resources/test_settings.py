"""`/settings` with the real store: read by key and prefix, write one or many, and refuse bad values."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from actors.kit.errors import Busy, HapticError, StateNotWritable
from actors.settings.messages import STORE
from actors.settings.sources import COMMAND_LINE, Override
from actors.settings.state_directory import StateDirectory
from tests.service.edge_server import EdgeServer, replace_by_failing
from transport.settings_catalog import SETTINGS_CATALOG

FREQUENCY = "control/frequency"
GAIN = "devices/haptic*/filters/force_scale/gain"


def data(rig: EdgeServer, path: str) -> Any:
    reply = rig.get(path)
    assert reply.status == 200, reply.body
    shown = reply.json
    assert set(shown) == {"ok", "error", "data"}
    return shown["data"]


# ---------------------------------------------------------------- reading


def test_a_key_answers_its_record(rig: EdgeServer) -> None:
    assert data(rig, "/settings/control/frequency") == {
        "key": FREQUENCY,
        "value": 4000,
        "effective": 4000,
        "default": 4000,
        "type_hint": "INT",
        "unit": "Hz",
        "metadata": {"constraint": {"range": {"min": 100, "max": 32000}}, "locked": False, "advanced": False},
        "description": "Rate of the control loop.",
    }


def test_settings_answer_can_be_plain(rig: EdgeServer) -> None:
    assert rig.get("/settings/control/frequency?format=plain").json["key"] == FREQUENCY


def test_all_settings_are_a_map_from_key_to_record(rig: EdgeServer) -> None:
    shown = data(rig, "/settings")

    assert {key: record["key"] for key, record in shown.items()} == {key: key for key in shown}
    assert FREQUENCY in shown
    assert [key for key, record in shown.items() if record["metadata"]["advanced"]] == [
        "serialization/explicit_fields",
        "serialization/force_complete_transforms",
    ]


def test_advanced_settings_are_shown_when_asked_for(rig: EdgeServer) -> None:
    every = data(rig, "/settings?advanced=true")

    assert set(every) == {row.key for row in SETTINGS_CATALOG}
    assert set(every) > set(data(rig, "/settings?advanced=false"))
    assert data(rig, "/settings/control/spin")["value"] == "auto"


@pytest.mark.parametrize("path", ["/settings/control", "/settings/control/", "/settings/%63ontrol"])
def test_prefix_lists_its_settings(rig: EdgeServer, path: str) -> None:
    under = [row for row in SETTINGS_CATALOG if row.key.startswith("control/")]

    assert set(data(rig, path)) == {row.key for row in under if not row.advanced}
    assert "control/spin" in data(rig, f"{path}?advanced=true")


@pytest.mark.parametrize(
    "path",
    [
        "devices/haptic*/filters/force_scale/gain",
        "devices/haptic%2A/filters/force_scale/gain",
        "devices/haptic*/filters/force_scale/gain/",
        "devices%2Fhaptic*%2Ffilters%2Fforce_scale%2Fgain",
        "devices/inverse*/filters/force_scale/gain",
    ],
)
def test_key_may_be_written_in_several_ways(rig: EdgeServer, path: str) -> None:
    assert data(rig, f"/settings/{path}")["key"] == GAIN


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("devices/arm/filters/force_scale/gain", "devices/arm/filters/force_scale/gain"),
        ("devices/inverse3/filters/force_scale/gain", "devices/arm/filters/force_scale/gain"),
        ("devices/049D/filters/force_scale/gain", "devices/049D/filters/force_scale/gain"),
    ],
)
def test_specific_key_shows_its_family_s_value(rig: EdgeServer, path: str, key: str) -> None:
    assert (data(rig, f"/settings/{path}")["key"], data(rig, f"/settings/{path}")["effective"]) == (key, 1)


def test_prefix_may_be_in_inverse_vocabulary(rig: EdgeServer) -> None:
    assert set(data(rig, "/settings/devices/inverse*")) == {GAIN, "devices/haptic*/filters/force_gate/gain"}


@pytest.mark.parametrize(
    "path", ["nope", "control/freq", "control/frequency/x", "Control", "control//frequency", "contro"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_unknown_key_is_404(rig: EdgeServer, method: str, path: str) -> None:
    reply = rig.ask(method, f"/settings/{path}")

    assert reply.status == 404
    assert "There is no setting" in reply.error


def test_near_miss_gets_a_suggestion(rig: EdgeServer) -> None:
    assert FREQUENCY in rig.get("/settings/control/freqency").error


@pytest.mark.parametrize("query", ["advanced=maybe", "advanced=", "deprecated=2"])
def test_invalid_flag_in_the_query_is_refused(rig: EdgeServer, query: str) -> None:
    assert rig.get(f"/settings?{query}").status == 400


def test_an_override_is_shown(folder: StateDirectory) -> None:
    with EdgeServer(folder, {FREQUENCY: Override(1000, COMMAND_LINE)}) as rig:
        record = data(rig, "/settings/control/frequency")

    assert (record["value"], record["effective"], record["overridden_by"]) == (4000, 1000, "command line")


# ---------------------------------------------------------------- writing one


@pytest.mark.parametrize("body", [2000, {"value": 2000}, 2000.0])
def test_value_bare_or_wrapped_is_on_disk_before_the_answer(
    rig: EdgeServer, folder: StateDirectory, body: object
) -> None:
    reply = rig.ask("POST", "/settings/control/frequency", body)

    assert reply.status == 200
    assert reply.json["data"]["value"] == reply.json["data"]["effective"] == 2000
    assert data(rig, "/settings/control/frequency")["value"] == 2000
    assert json.loads(folder.settings.read_text())[FREQUENCY] == 2000


def test_null_is_accepted_where_allowed(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/settings/communication/http/port", 8080).json["data"]["value"] == 8080
    assert rig.ask("POST", "/settings/communication/http/port", raw=b"null").json["data"]["value"] is None
    assert rig.ask("POST", "/settings/communication/http/port", {"value": None}).json["data"]["value"] is None
    assert rig.ask("POST", "/settings/control/frequency", raw=b"null").status == 400


def test_a_locked_setting_is_stored_for_the_next_start(rig: EdgeServer) -> None:
    record = rig.ask("POST", "/settings/communication/websocket/port", 12345).json["data"]

    assert (record["value"], record["effective"], record["restart_required"]) == (12345, 10001, True)


def test_extra_fields_of_a_record_are_named_and_ignored(rig: EdgeServer) -> None:
    record = data(rig, "/settings/control/frequency") | {"value": 500}

    reply = rig.ask("POST", "/settings/control/frequency", record).json

    assert reply["data"]["value"] == 500
    assert 'unknown key "description" was ignored' in reply["warnings"]


@pytest.mark.parametrize(
    ("key", "body"),
    [
        (FREQUENCY, 99),
        (FREQUENCY, 32001),
        (FREQUENCY, "4000"),
        (FREQUENCY, 4000.5),
        (FREQUENCY, True),
        (FREQUENCY, [4000]),
        (FREQUENCY, {"velue": 4000}),
        (FREQUENCY, {}),
        (FREQUENCY, 10**30),
        (FREQUENCY, {"value": {"value": 4000}}),
        (GAIN, -0.1),
        (GAIN, 2.1),
        ("serialization/vocabulary", "klingon"),
        ("serialization/vocabulary", ["neutral"]),
        ("serialization/timestamps", "true"),
        ("serialization/timestamps", 1),
        ("devices/simulated", "arm"),
        ("devices/simulated", ["leg"]),
        ("devices/simulated", ["arm"] * 17),
        ("communication/bind_address", "example.org"),
        ("communication/allowed_origins", ["*"]),
        ("communication/auth/required", False),
    ],
)
def test_value_not_accepted_is_400_and_changes_nothing(rig: EdgeServer, key: str, body: object) -> None:
    before = data(rig, f"/settings/{key}")

    reply = rig.ask("POST", f"/settings/{key}", body)

    assert reply.status == 400
    assert reply.error.startswith(f"{key}: ")
    assert data(rig, f"/settings/{key}") == before


def test_a_missing_body_is_400(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/settings/control/frequency").status == 400
    assert rig.ask("POST", "/settings").status == 400


@pytest.mark.parametrize(
    ("key", "body", "sentence"),
    [
        (
            "features/power_limit",
            {"vlaue": 2},
            'features/power_limit: the key "vlaue" is unknown: give a number from 0 to 100 W, as it is or as {"value": …}.',
        ),
        ("features/brake_latch", {"x": True}, 'the key "x" is unknown: give true or false'),
        (GAIN, {"k" * 50: 1}, f'the key "{"k" * 40}" is unknown: give a number'),
        ("devices/inverse3/filters/force_scale/gain", {"Value": 1}, 'the key "Value" is unknown: give a number'),
    ],
)
def test_unknown_key_in_place_of_value_is_named_with_what_is_expected(
    rig: EdgeServer, key: str, body: object, sentence: str
) -> None:
    one = rig.ask("POST", f"/settings/{key}", body)
    many = rig.ask("POST", "/settings", {FREQUENCY: 1000, key: body})

    assert (one.status, many.status) == (400, 400)
    assert sentence in one.error
    assert sentence in many.error
    assert data(rig, "/settings/control/frequency")["value"] == 4000


@pytest.mark.parametrize("path", ["nope", "devices/haptic*/nope"])
def test_unknown_setting_is_404_whatever_the_body_has(rig: EdgeServer, path: str) -> None:
    assert rig.ask("POST", f"/settings/{path}", {"vlaue": 2}).status == 404


def test_value_for_an_unknown_setting_is_404(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/settings/control/freq", 1).status == 404
    assert rig.ask("POST", "/settings/control", 1).status == 404


def test_a_deleted_value_is_the_default_again(rig: EdgeServer) -> None:
    rig.ask("POST", "/settings/control/frequency", 2000)

    assert rig.ask("DELETE", "/settings/control/frequency").json["data"]["value"] == 4000
    assert rig.ask("DELETE", "/settings/control/frequency").status == 200
    assert data(rig, "/settings/control/frequency")["value"] == 4000


def test_all_settings_cannot_be_deleted_at_once(rig: EdgeServer) -> None:
    reply = rig.ask("DELETE", "/settings")

    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")


def test_each_change_leaves_one_audit_line(rig: EdgeServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        rig.ask("POST", "/settings/control/frequency", 2000)
        rig.ask("POST", "/settings/control/frequency", "no")
        rig.ask("POST", "/settings/presets/freeform_profiles", ["x" * 250] * 4)
        rig.ask("DELETE", "/settings/control/frequency")

    lines = [record.message for record in caplog.records if record.name == "hapticd.audit"]
    assert lines[0] == "peer=127.0.0.1 session=- setting control/frequency = 2000"
    assert len(lines) == 3
    assert max(map(len, lines)) < 300


# ---------------------------------------------------------------- writing many


def test_each_of_several_changes_has_an_audit_line_unless_one_is_refused(
    rig: EdgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        rig.ask("POST", "/settings", {FREQUENCY: 1000, GAIN: 3})
        rig.ask("POST", "/settings", {FREQUENCY: 1000, GAIN: 0.5})

    assert [record.message for record in caplog.records if record.name == "hapticd.audit"] == [
        f"peer=127.0.0.1 session=- setting {FREQUENCY} = 1000",
        f"peer=127.0.0.1 session=- setting {GAIN} = 0.5",
    ]


def test_several_settings_are_set_at_once(rig: EdgeServer) -> None:
    reply = rig.ask("POST", "/settings", {FREQUENCY: 1000, "devices/inverse*/filters/force_scale/gain": {"value": 0.5}})

    assert reply.status == 200
    assert {key: record["value"] for key, record in reply.json["data"].items()} == {FREQUENCY: 1000, GAIN: 0.5}
    assert "warnings" not in reply.json


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({FREQUENCY: 1000, GAIN: 7}, 400),
        ({FREQUENCY: 1000, "no/such": 1}, 404),
        ({FREQUENCY: 1000, "devices/inverse*/filters/force_scale/gain": 1, GAIN: 1}, 400),
        ([FREQUENCY], 400),
        ("x", 400),
    ],
)
def test_one_refused_value_refuses_all(rig: EdgeServer, body: object, status: int) -> None:
    reply = rig.ask("POST", "/settings", body)

    assert reply.status == status
    assert reply.error
    assert data(rig, "/settings/control/frequency")["value"] == 4000


def test_empty_request_is_400(rig: EdgeServer) -> None:
    reply = rig.ask("POST", "/settings", {})

    assert (reply.status, reply.error) == (400, "Name at least one setting.")


def test_unknown_keys_beside_values_are_named_with_their_setting(rig: EdgeServer) -> None:
    reply = rig.ask("POST", "/settings", {FREQUENCY: {"value": 1000, "unit": "Hz"}}).json

    assert reply["warnings"] == ['unknown key "control/frequency.unit" was ignored']


# ---------------------------------------------------------------- a store that does not answer


@pytest.mark.parametrize(
    ("error", "status"), [(StateNotWritable("/state", "disk full"), 507), (Busy(), 503)], ids=["disk", "busy"]
)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/settings", {"control/frequency": 1}),
        ("POST", "/settings/control/frequency", 1),
        ("DELETE", "/settings/control/frequency", None),
    ],
)
def test_failing_store_is_reported(
    rig: EdgeServer, method: str, path: str, body: object, error: HapticError, status: int
) -> None:
    replace_by_failing(rig, STORE, error)

    assert rig.ask(method, path, body).status == status
    assert rig.get("/settings").status == 200


def test_missing_store_is_503(rig: EdgeServer) -> None:
    rig.actors.pop(0).stop()

    reply = rig.ask("POST", "/settings/control/frequency", 1)

    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
