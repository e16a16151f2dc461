"""Parse request lines: path segments, decoding, version prefixes, refused paths."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from transport.http.request_target import parse_query, parse_target


@pytest.mark.parametrize(
    ("uri", "segments"),
    [
        ("", ()),
        ("/", ()),
        ("//", ("",)),
        ("/devices", ("devices",)),
        ("/devices/", ("devices",)),
        ("/devices//", ("devices", "")),
        ("/settings/a/b", ("settings", "a", "b")),
        ("/haptic%2A/%2a", ("haptic*", "*")),
        ("/sessions/a%2Fb/profile", ("sessions", "a/b", "profile")),
        ("/sessions/%253A", ("sessions", "%3A")),
        ("/sessions/%3A0", ("sessions", ":0")),
        ("/sessions/a+b", ("sessions", "a+b")),
        ("/sessions/%C3%A9", ("sessions", "\u00e9")),
        ("/sessions/%00", ("sessions", "\0")),
        ("/a/../b", ("a", "..", "b")),
        ("http://localhost:10001/devices?x=1", ("devices",)),
        ("http://localhost", ()),
        ("HTTP://[::1]:1/a", ("a",)),
    ],
)
def test_a_path_is_split_at_slashes_then_decoded_once(uri: str, segments: tuple[str, ...]) -> None:
    assert parse_target(uri).segments == segments


@pytest.mark.parametrize(
    ("uri", "segments", "prefix", "version"),
    [
        ("/3.0", (), "3.0", "3.0"),
        ("/3.0/", (), "3.0", "3.0"),
        ("/3.0/devices", ("devices",), "3.0", "3.0"),
        ("/3.1/devices", ("devices",), "3.1", "3.1"),
        ("/devices", ("devices",), None, "3.1"),
        ("/3.2/devices", ("3.2", "devices"), None, "3.1"),
        ("/3.0/3.0/devices", ("3.0", "devices"), "3.0", "3.0"),
        ("/devices/3.0", ("devices", "3.0"), None, "3.1"),
    ],
)
def test_a_version_prefix_is_taken_off_once(
    uri: str, segments: tuple[str, ...], prefix: str | None, version: str
) -> None:
    target = parse_target(uri)

    assert (target.segments, target.prefix, target.version) == (segments, prefix, version)


@pytest.mark.parametrize(
    "uri", ["/%", "/%2", "/%zz", "/a%", "/%%20", "/a?%", "/a?x=%4", "/a?%zz=1", "/%FF", "/a?x=%C3"]
)
def test_bad_percent_encoding_is_refused(uri: str) -> None:
    with pytest.raises(InvalidInput, match=r"%25|UTF-8"):
        parse_target(uri)


@pytest.mark.parametrize("uri", ["*", "devices", "localhost:10001"])
def test_invalid_path_is_refused(uri: str) -> None:
    with pytest.raises(InvalidInput, match="slash"):
        parse_target(uri)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", {}),
        ("&&", {}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("a=1&b=2", {"a": "1", "b": "2"}),
        ("a=1&a=2", {"a": "2"}),
        ("a=b=c", {"a": "b=c"}),
        ("session=my+app", {"session": "my app"}),
        ("session=my%2Bapp", {"session": "my+app"}),
        ("session=%23" + "7", {"session": "#7"}),
        ("a;b=1", {"a;b": "1"}),
    ],
)
def test_query_is_parsed_into_fields(query: str, fields: dict[str, str]) -> None:
    assert parse_query(query) == fields


def test_too_many_query_fields_are_refused() -> None:
    assert len(parse_query("&".join(f"f{number}" for number in range(64)))) == 64
    with pytest.raises(InvalidInput, match="64"):
        parse_query("&".join(f"f{number}" for number in range(65)))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_path_segments_round_trip(segments: list[str]) -> None:
    try:
        path = "".join(f"/{quote(segment, safe='')}" for segment in ["x", *segments])
    except UnicodeEncodeError:
        return

    assert parse_target(path).segments == ("x", *segments)


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=5))
def test_query_fields_round_trip(fields: dict[str, str]) -> None:
    try:
        query = urlencode(fields)
    except UnicodeEncodeError:
        return

    assert parse_query(query) == fields
