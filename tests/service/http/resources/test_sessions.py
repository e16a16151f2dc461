"""`/sessions`: records, selectors, profiles and disconnect, with the real session rules."""

from __future__ import annotations

import logging

import pytest

from actors.kit.errors import Busy, StateNotWritable
from actors.session.messages import SessionTable
from actors.settings.messages import STORE
from tests.service.edge_server import EdgeServer, FakeSession, replace_by_failing
from transport import bridge


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    rig.add_device("049D")
    rig.add_session(3)
    rig.add_session(5, "sim")
    rig.add_session(7, "sim")
    rig.add_session(9, "app: main")
    return rig


def ids(rig: EdgeServer, selector: str) -> list[int]:
    shown = rig.get(f"/sessions/{selector}").json
    assert shown["session_count"] == len(shown["sessions"])
    return [record["session_id"] for record in shown["sessions"]]


# ---------------------------------------------------------------- reading


def test_sessions_are_listed(rig: EdgeServer) -> None:
    shown = rig.get("/sessions").json

    assert shown["session_count"] == 4
    assert shown["sessions"][0] == {
        "session_id": 3,
        "profile": {"name": "default"},
        "basis": {"permutation": "XYZ"},
        "required_sdk_version": None,
        "version": "3.1",
        "remote_address": "127.0.0.1",
        "connected_at": "2026-01-01T00:00:00+00:00",
        "frames_sent": 12,
        "commands_received": 11,
        "devices": ["049D"],
    }


def test_session_with_a_closing_channel_has_sent_nothing(rig: EdgeServer) -> None:
    rig.add_session(11, channel=False)

    assert rig.get("/sessions/11").json["frames_sent"] == 0


@pytest.mark.parametrize(
    ("selector", "session_id"),
    [
        ("7", 7),
        ("%237", 7),
        (":0", 3),
        ("%3A0", 3),
        (":-1", 9),
        ("sim:1", 7),
        (":sim:-2", 5),
        ("app%3A%20main", 9),
        ("default:0", 3),
    ],
)
def test_session_is_one_record(rig: EdgeServer, selector: str, session_id: int) -> None:
    assert rig.get(f"/sessions/{selector}").json["session_id"] == session_id


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [("*", [3, 5, 7, 9]), ("s%2A", [5, 7]), ("s%3Fm", [5, 7]), ("sim", [5, 7]), ("app*", [9]), ("no*", [])],
)
def test_several_sessions_are_a_list_even_if_empty(rig: EdgeServer, selector: str, wanted: list[int]) -> None:
    assert ids(rig, selector) == wanted


@pytest.mark.parametrize(
    "path", ["8", "nobody", ":9", "sim:2", "default:1", "8/profile", "nobody/profile", "x*/profile"]
)
def test_unknown_session_is_404(rig: EdgeServer, path: str) -> None:
    reply = rig.get(f"/sessions/{path}")

    assert reply.status == 404
    assert "There is no session" in reply.error


@pytest.mark.parametrize("path", ["/sessions//profile", "/sessions/" + "x" * 600])
def test_invalid_session_selector_is_400(rig: EdgeServer, path: str) -> None:
    assert rig.get(path).status == 400


def test_without_sessions_the_list_is_empty(rig: EdgeServer) -> None:
    rig.sessions.replace(type(rig.sessions.value)())

    assert rig.get("/sessions").json == {"session_count": 0, "sessions": []}
    assert rig.get("/sessions?format=json").json == {
        "ok": True,
        "error": None,
        "data": {"session_count": 0, "sessions": []},
    }


# ---------------------------------------------------------------- profiles


def test_a_profile_is_read_set_and_cleared(rig: EdgeServer) -> None:
    assert rig.get("/sessions/3/profile").json == {"name": "default"}
    assert rig.ask("POST", "/sessions/3/profile", {"name": "brush"}).json == {"name": "brush"}
    assert rig.get("/sessions/3/profile").json == {"name": "brush"}
    assert rig.get("/sessions/brush").json["session_id"] == 3
    assert rig.ask("DELETE", "/sessions/brush/profile").json == {"name": "default"}
    assert rig.get("/sessions/3/profile").json == {"name": "default"}


def test_profile_can_be_enveloped(rig: EdgeServer) -> None:
    assert rig.get("/sessions/5/profile?format=json").json == {"ok": True, "error": None, "data": {"name": "sim"}}


def test_profiles_of_several_sessions_have_a_result_each(rig: EdgeServer) -> None:
    assert rig.get("/sessions/sim/profile").json == {
        "results": [{"session_id": 5, "ok": True, "name": "sim"}, {"session_id": 7, "ok": True, "name": "sim"}]
    }
    assert [one["session_id"] for one in rig.get("/sessions/*/profile").json["results"]] == [3, 5, 7, 9]


@pytest.mark.parametrize("selector", ["app*", "default", ":default", "%3Adefault"])
def test_profile_of_a_selector_with_one_match_is_bare(rig: EdgeServer, selector: str) -> None:
    found = rig.get(f"/sessions/{selector}/profile").json

    assert found == {"name": "app: main" if selector == "app*" else "default"}


def test_default_in_a_path_is_a_profile_name(rig: EdgeServer) -> None:
    assert rig.get("/sessions/default").json["session_id"] == 3
    rig.add_session(11)
    assert ids(rig, "default") == ids(rig, ":default") == [3, 11]


def test_several_sessions_are_changed_with_a_result_each(rig: EdgeServer) -> None:
    reply = rig.ask("POST", "/sessions/sim/profile", {"name": "x"})

    assert reply.status == 200
    assert reply.json == {
        "results": [{"session_id": 5, "ok": True, "name": "x"}, {"session_id": 7, "ok": True, "name": "x"}]
    }
    assert ids(rig, "x") == [5, 7]
    assert rig.ask("DELETE", "/sessions/x*/profile").json["results"][1] == {
        "session_id": 7,
        "ok": True,
        "name": "default",
    }


def test_pattern_with_one_match_selects_that_session(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/sessions/app*/profile", {"name": "x"}).json == {"name": "x"}


def test_one_failed_change_of_several_is_reported_and_the_others_apply(rig: EdgeServer) -> None:
    replace_by_failing(rig, "session/5", Busy("Later."))

    reply = rig.ask("POST", "/sessions/sim/profile", {"name": "x"})

    assert reply.status == 503
    assert reply.json["results"] == [
        {"session_id": 5, "ok": False, "error": "Later."},
        {"session_id": 7, "ok": True, "name": "x"},
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": 7},
        {"name": ["x"]},
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\nb"},
        "x",
        [],
        None,
    ],
)
def test_invalid_profile_name_is_400(rig: EdgeServer, body: object) -> None:
    reply = rig.ask("POST", "/sessions/3/profile", body, raw=b"null")

    assert reply.status == 400
    assert reply.error
    assert rig.get("/sessions/3/profile").json == {"name": "default"}


def test_unknown_keys_beside_the_name_are_named(rig: EdgeServer) -> None:
    reply = rig.ask("POST", "/sessions/3/profile", {"name": "x", "nmae": "y"})

    assert reply.json == {"name": "x", "warnings": ['unknown key "nmae" was ignored']}


@pytest.mark.parametrize("selector", ["8", "nobody", "no*"])
@pytest.mark.parametrize(("method", "body"), [("POST", {"name": "x"}), ("DELETE", None)])
def test_change_without_a_match_is_404(rig: EdgeServer, method: str, body: object, selector: str) -> None:
    assert rig.ask(method, f"/sessions/{selector}/profile", body).status == 404


def test_session_closed_in_the_meantime_is_not_awaited(rig: EdgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def goes(self: FakeSession, config: object) -> None:
        del config
        self.table.replace(SessionTable())

    monkeypatch.setattr(FakeSession, "_show", goes)

    assert rig.ask("POST", "/sessions/3/profile", {"name": "x"}).json == {"name": "x"}


def test_answer_waits_a_limited_time_for_the_session_table(rig: EdgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: FakeSession, config: object) -> None:
        del self, config

    monkeypatch.setattr(bridge, "PAUSE_S", 0)
    monkeypatch.setattr(FakeSession, "_show", never)

    assert rig.ask("POST", "/sessions/3/profile", {"name": "x"}).json == {"name": "x"}


@pytest.mark.parametrize(("method", "body"), [("POST", {"name": "x"}), ("DELETE", None)])
def test_profile_with_a_failed_write_applies_and_is_507(rig: EdgeServer, method: str, body: object) -> None:
    replace_by_failing(rig, STORE, StateNotWritable("/state", "disk full"))

    reply = rig.ask(method, "/sessions/5/profile", body)

    assert (reply.status, reply.error.partition(",")[0]) == (507, "The profile holds")
    assert rig.get("/sessions/5/profile").json == {"name": "x" if body else "default"}


# ---------------------------------------------------------------- disconnecting


def test_one_session_is_disconnected(rig: EdgeServer, caplog: pytest.LogCaptureFixture) -> None:
    channel = rig.add_session(11, "late")

    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        reply = rig.ask("DELETE", "/sessions/late")

    assert reply.json["session_id"] == 11
    assert channel.closed == [(1000, "disconnected over HTTP")]
    assert caplog.messages == ["peer=127.0.0.1 session=11 disconnected over HTTP"]


def test_several_sessions_are_disconnected(rig: EdgeServer) -> None:
    channels = [rig.add_session(11, "late"), rig.add_session(13, "late")]

    reply = rig.ask("DELETE", "/sessions/late")

    assert reply.json == {"results": [{"session_id": 11, "ok": True}, {"session_id": 13, "ok": True}]}
    assert all(channel.closed for channel in channels)


def test_closing_session_is_left_unchanged(rig: EdgeServer) -> None:
    rig.add_session(11, "late", channel=False)

    assert rig.ask("DELETE", "/sessions/11").status == 200


@pytest.mark.parametrize("selector", ["8", "nobody", "no*", "default:1"])
def test_disconnect_without_a_match_is_404(rig: EdgeServer, selector: str) -> None:
    assert rig.ask("DELETE", f"/sessions/{selector}").status == 404


def test_disconnecting_all_sessions_needs_an_explicit_pattern(rig: EdgeServer) -> None:
    assert rig.ask("DELETE", "/sessions").status == 405
    assert len(rig.ask("DELETE", "/sessions/*").json["results"]) == 4
