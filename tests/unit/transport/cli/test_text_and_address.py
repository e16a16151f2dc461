"""Text from a service cannot reach the terminal as a command, and --url takes what people write."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.cli.address import parse_address
from transport.cli.client import device_path
from transport.cli.text import HARMFUL, MOST, clean


@given(st.text())
def test_clean_text_is_one_printable_line(text: str) -> None:
    shown = clean(text)

    assert not {unicodedata.category(character) for character in shown} & HARMFUL
    assert len(shown) <= MOST + 1


@given(st.text(st.characters(categories=("L", "N", "P")), max_size=MOST))
def test_harmless_text_is_shown_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb", "a\\x0ab"),
        ("\u202eevil", "\\u202eevil"),
        ("\x9b31m", "\\x9b31m"),
        ("[red]x[/red]", "[red]x[/red]"),
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (1.5, "1.5"),
        ("", ""),
        ("x" * (MOST + 5), "x" * MOST + "…"),
    ],
)
def test_value_is_shown_safely(value: object, shown: str) -> None:
    assert clean(value) == shown


@pytest.mark.parametrize(
    ("text", "url", "channel"),
    [
        ("http://localhost:10001", "http://localhost:10001", "ws://localhost:10001/"),
        ("localhost:10001", "http://localhost:10001", "ws://localhost:10001/"),
        ("192.0.2.7:8000", "http://192.0.2.7:8000", "ws://192.0.2.7:8000/"),
        ("[::1]:8000", "http://[::1]:8000", "ws://[::1]:8000/"),
        ("lab-pc", "http://lab-pc:80", "ws://lab-pc:80/"),
        ("ws://lab-pc:10001/", "http://lab-pc:10001", "ws://lab-pc:10001/"),
        ("wss://haptics.example", "https://haptics.example:443", "wss://haptics.example:443/"),
        ("https://haptics.example/arm/", "https://haptics.example:443/arm", "wss://haptics.example:443/arm/"),
        ("  http://localhost:10001/  ", "http://localhost:10001", "ws://localhost:10001/"),
    ],
)
def test_address_is_read(text: str, url: str, channel: str) -> None:
    address = parse_address(text)

    assert (address.url, address.channel) == (url, channel)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "http://",
        "ftp://localhost",
        "http://localhost:0",
        "http://localhost:99999",
        "http://localhost:port",
        "http://user:secret@localhost",
        "http://localhost?token=x",
        "http://localhost#x",
        "http://local host",
        "http://localhost/\n",
        "http://localhost\r\nX: y",
        "http://[::1",
        "//localhost",
        "a b",
        "http://localhost/ä",
        "\x00",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    if text == "http://localhost/\n":
        assert parse_address(text).path == ""
        return
    with pytest.raises(ValueError, match=r"write http://HOST:PORT, such as http://localhost:10001"):
        parse_address(text)


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("049D", "/*/049D"),
        ("arm/0", "/arm/0"),
        ("*", "/*/*"),
        ("haptic*/*", "/haptic*/*"),
        ("../stop", "/../stop"),
        ("049D?x=1", "/*/049D%3Fx%3D1"),
        ("a b", "/*/a%20b"),
        ("ä", "/*/%C3%A4"),
    ],
)
def test_device_becomes_a_path(named: str, path: str) -> None:
    assert device_path(named) == path
