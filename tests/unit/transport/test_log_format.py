"""Lines of the log: JSON that any reader takes whatever is in it, one line a fact, and never a secret."""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.log_format import (
    FIELDS,
    LONGEST_FIELD,
    LONGEST_MESSAGE,
    JsonFormat,
    Redaction,
    TextFormat,
    is_secret_name,
    utc,
)

TOKEN = "kq7-Tn4_secretsecretsecretsecretsecret12345"
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates and control characters too


def record(message: object, *args: object, level: int = logging.WARNING, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord("actors.port.manager", level, "x.py", 1, message, args, None)
    made.__dict__.update(fields)
    return made


def with_traceback(text: str) -> logging.LogRecord:
    made = record("failed")
    try:
        raise_it(text)
    except ValueError:
        made.exc_info = sys.exc_info()
    return made


def raise_it(text: str) -> None:
    raise ValueError(text)


def as_json(made: logging.LogRecord, redaction: Redaction | None = None) -> dict[str, object]:
    line = JsonFormat(redaction or Redaction()).format(made)
    assert line.isascii()
    assert "\n" not in line
    found: dict[str, object] = orjson.loads(line)
    assert found == json.loads(line)
    return found


def as_text(made: logging.LogRecord, redaction: Redaction | None = None) -> str:
    return TextFormat(redaction or Redaction()).format(made)


def test_json_line_has_time_level_kind_message_and_the_fields_of_its_fact() -> None:
    made = record("port %s is blocked", "sim0", event="port-blocked", port="sim0", session=None, device="")
    made.created = 1_769_860_800.25

    assert list(as_json(made).items()) == [
        ("time", "2026-01-31T12:00:00.250000Z"),
        ("level", "warning"),
        ("kind", "actors.port.manager"),
        ("message", "port sim0 is blocked"),
        ("event", "port-blocked"),
        ("port", "sim0"),
    ]


def test_session_is_a_number_and_every_other_field_a_text() -> None:
    found = as_json(record("x", **cast("dict[str, Any]", {**dict.fromkeys(FIELDS, "a"), "session": 7})))

    assert found["session"] == 7
    assert all(found[name] == "a" for name in FIELDS if name != "session")


def test_traceback_is_one_field() -> None:
    found = as_json(with_traceback("boom"))

    assert found["message"] == "failed"
    assert str(found["traceback"]).startswith("Traceback (most recent call last):\n")
    assert str(found["traceback"]).endswith("ValueError: boom")


def test_stack_is_in_the_field_traceback() -> None:
    assert as_json(record("x", stack_info="Stack (most recent call last):\n  here"))["traceback"] == (
        "Stack (most recent call last):\n  here"
    )


@given(ANY_TEXT, ANY_TEXT)
def test_any_message_name_and_error_is_one_valid_line(text: str, name: str) -> None:
    made = with_traceback(text)
    made.msg, made.args, made.name, made.device = "%s", (text,), name or "x", name

    found = as_json(made)

    cleaned = Redaction().clean(text).encode("utf-8", "backslashreplace").decode()
    assert found["message"] == cleaned


@given(ANY_TEXT)
def test_any_message_is_one_line_of_text(text: str) -> None:
    (line,) = as_text(record("%s", text)).splitlines()

    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING actors\.port\.manager: ", line)
    line.encode()


def test_very_long_texts_are_cut_with_their_length() -> None:
    found = as_json(record("m" * 1_000_000, device="d" * 1_000_000))

    assert found["message"] == "m" * LONGEST_MESSAGE + "… (1000000 characters)"
    assert found["device"] == "d" * LONGEST_FIELD + "… (1000000 characters)"


def test_arguments_that_do_not_fit_their_template_are_no_traceback() -> None:
    for made in (record("%d ports", "three"), record("%s", Unprintable())):
        assert "do not fit" in str(as_json(made)["message"])
        assert "do not fit" in as_text(made)


class Unprintable:
    """A value whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_level_of_another_library_is_written_in_lower_case() -> None:
    assert as_json(record("x", level=logging.CRITICAL))["level"] == "critical"


@pytest.mark.parametrize(
    "text",
    [
        f"GET /?token={TOKEN}&x=1",
        f"GET /?TOKEN={TOKEN}#x",
        f"Authorization: Bearer {TOKEN}",
        f"headers {{'Authorization': 'Bearer {TOKEN}'}}",
        f"authorization=bearer {TOKEN}",
        f'{{"token": "{TOKEN}"}}',
        f"redirect?to=%2F%3Ftoken%3D{TOKEN}",
        f"Proxy-Authorization: Basic {TOKEN}",
        f"password={TOKEN}",
        f'{{"passwd": "{TOKEN}"}}',
        f"api_key: {TOKEN}",
        f"https://user:{TOKEN}@camera.example/stream",
        f"rtsp://{TOKEN}@camera.example",
        f"https://user:p@{TOKEN}@camera.example/",
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    assert TOKEN not in as_text(record(text))
    assert TOKEN not in str(as_json(record(text)))
    assert TOKEN not in str(as_json(with_traceback(text)))
    assert TOKEN not in as_text(with_traceback(text))


def test_the_service_s_own_token_is_hidden_wherever_it_stands() -> None:
    redaction = Redaction()
    redaction.hide([TOKEN, ""])

    for made in (record(f"a{TOKEN}b"), record("%s", TOKEN), record("x", client=TOKEN), with_traceback(TOKEN)):
        assert TOKEN not in str(as_json(made, redaction))
        assert TOKEN not in as_text(made, redaction)


def test_login_of_an_address_is_hidden_and_the_address_stays() -> None:
    text = "no answer from https://user:pass@camera.example:8080/a@b, ask admin@example.com"

    assert Redaction().clean(text) == "no answer from https://[hidden]@camera.example:8080/a@b, ask admin@example.com"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("token", True),
        ("auth/token", True),
        ("client_secret", True),
        ("Authorization", True),
        ("apiKey", True),
        ("api_key", True),
        ("tokens_sent", False),
        ("key", False),
        ("communication/auth/required", False),
        ("monkey", False),
    ],
)
def test_name_of_a_secret_is_known_by_its_last_word(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_json_value_is_cleaned_whole() -> None:
    redaction = Redaction()
    redaction.hide([TOKEN])
    value = {"a": [1, None, True, f"x{TOKEN}"], "password": {"deep": TOKEN}, TOKEN: 1.5, "b": (f"?token={TOKEN}x",)}

    assert redaction.cleaned(value) == {
        "a": [1, None, True, "x[hidden]"],
        "password": "[hidden]",
        "[hidden]": 1.5,
        "b": ["?token=[hidden]"],
    }


def test_the_word_token_alone_hides_nothing() -> None:
    text = "The token file /var/lib/hapticd/token is empty: delete it; a bearer token is needed"

    assert as_json(record(text))["message"] == text


def test_time_is_iso_8601_in_utc() -> None:
    assert utc(0) == "1970-01-01T00:00:00.000000Z"
