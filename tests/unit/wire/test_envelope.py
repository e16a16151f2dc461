"""Map errors to status, headers and sentence; plain and enveloped answers."""

from __future__ import annotations

import json

import pytest

from actors.kit import errors
from actors.kit.errors import HapticError
from actors.settings.messages import UnknownSetting
from transport.wire.envelope import (
    OUR_FAULT,
    BodyTooLarge,
    Encoded,
    Forbidden,
    MethodNotAllowed,
    NoSuchRoute,
    Notes,
    NotReady,
    TokenRequired,
    answered,
    failure,
    headers_of,
    sentence_of,
    status_of,
)

TABLE = [
    (errors.InvalidInput("give a number.", "x"), 400),
    (TokenRequired("Send the token."), 401),
    (Forbidden("No."), 403),
    (errors.NoSuchDevice("049D"), 404),
    (errors.NoSuchSession("7"), 404),
    (errors.NoSuchSetting("a/b"), 404),
    (errors.NoSuchPort("sim9"), 404),
    (UnknownSetting("a/b", ["a/c"]), 404),
    (NoSuchRoute("/x"), 404),
    (MethodNotAllowed("PUT", ["GET", "HEAD"]), 405),
    (errors.Conflict("Unpair it first."), 409),
    (errors.UnsupportedArea("a grip", "mount"), 422),
    (errors.CalibrationLocked("049D"), 409),
    (errors.PortBlocked("sim0"), 409),
    (BodyTooLarge(65536), 413),
    (errors.FirmwareTooOld("damping", "7.4", "7.5"), 422),
    (HapticError("Something else."), 500),
    (ValueError("inside"), 500),
    (errors.Busy(), 503),
    (errors.NoSuchActor("settings"), 503),
    (errors.NoSlot("session", 64), 503),
    (NotReady("Wait."), 503),
    (errors.StateNotWritable("/x", "full"), 507),
]


@pytest.mark.parametrize(("error", "status"), TABLE, ids=lambda value: type(value).__name__)
def test_status_follows_the_error_class(error: Exception, status: int) -> None:
    assert status_of(error) == status


@pytest.mark.parametrize(("error", "status"), TABLE, ids=lambda value: type(value).__name__)
def test_only_busy_answers_have_retry_after(error: Exception, status: int) -> None:
    assert ("Retry-After" in headers_of(error)) is (status == 503)


def test_headers_follow_the_status() -> None:
    assert headers_of(MethodNotAllowed("PUT", ["GET", "HEAD"])) == {"Allow": "GET, HEAD"}
    assert headers_of(TokenRequired("x")) == {"WWW-Authenticate": "Bearer"}
    assert headers_of(errors.Busy()) == {"Retry-After": "1"}
    assert headers_of(errors.NoSuchDevice("x")) == {}


def test_subclass_inherits_its_status() -> None:
    class Odd(errors.FirmwareTooOld):
        pass

    assert status_of(Odd("a", "1.0", "2.0")) == 422


def test_internal_error_text_is_hidden() -> None:
    assert sentence_of(ValueError("/home/secret")) == OUR_FAULT
    assert sentence_of(errors.Busy("Later.")) == "Later."


def test_an_error_has_one_shape() -> None:
    assert failure('say "please"') == b'{"ok":false,"error":"say \\"please\\"","data":null}'


@pytest.mark.parametrize("data", [{"a": 1.5}, Encoded(b'{"a":1.5}')])
def test_answer_is_plain_or_enveloped(data: Encoded | dict[str, object]) -> None:
    assert answered(data, envelope=False) == b'{"a":1.5}'
    assert answered(data, envelope=True) == b'{"ok":true,"error":null,"data":{"a":1.5}}'


@pytest.mark.parametrize("data", [{}, {"a": 1}, Encoded(b"{}"), Encoded(b'{"a":1}')])
def test_notes_stand_beside_the_data(data: Encoded | dict[str, object]) -> None:
    notes = Notes(["frce"], "use POST /settings/x")
    plain = json.loads(answered(data, envelope=False, notes=notes))
    enveloped = json.loads(answered(data, envelope=True, notes=notes))
    beside = {"warnings": ['unknown key "frce" was ignored'], "deprecation_warning": "use POST /settings/x"}
    inner = json.loads(data.text) if isinstance(data, Encoded) else data

    assert plain == inner | beside
    assert enveloped == {"ok": True, "error": None, "data": inner} | beside


def test_warnings_are_few_and_short() -> None:
    shown = json.loads(answered({}, envelope=False, notes=Notes(["k" * 1000] * 100)))["warnings"]

    assert len(shown) == 16
    assert max(map(len, shown)) < 150


def test_numbers_follow_the_contract() -> None:
    assert answered({"a": 16777216.0, "b": 1e-7, "c": 0.05, "d": 7}, envelope=False) == (
        b'{"a":1.6777216E7,"b":1E-7,"c":0.05,"d":7}'
    )
