"""Parse event filters of a URL: kinds, level, since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from actors.event.filters import parse_kinds, parse_level, parse_since
from actors.kit.errors import InvalidInput


def test_kinds_are_separated_by_commas() -> None:
    assert parse_kinds("port-blocked, device-sleep,") == frozenset({"port-blocked", "device-sleep"})
    assert parse_kinds("") is None


def test_an_unknown_kind_is_refused_with_the_nearest_one_or_the_list() -> None:
    with pytest.raises(InvalidInput, match=r'no kind "device-conected": did you mean device-connected\?'):
        parse_kinds("port-blocked,device-conected")
    with pytest.raises(InvalidInput, match=r'no kind "foo": use some of .*port-blocked'):
        parse_kinds("port-blocked,foo")


def test_level_is_parsed_or_refused() -> None:
    assert parse_level("warning") == "warning"
    assert parse_level("") == "info"
    with pytest.raises(InvalidInput, match="info, notice, warning, error, critical, panic"):
        parse_level("loud")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2030-01-31T12:00:00.000001Z", datetime(2030, 1, 31, 12, 0, 0, 1, tzinfo=UTC)),
        ("2030-01-31T12:00:00", datetime(2030, 1, 31, 12, tzinfo=UTC)),
        ("2030-01-31T12:00:00+02:00", datetime(2030, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))),
        (" ", None),
    ],
)
def test_since_is_parsed(text: str, time: datetime | None) -> None:
    assert parse_since(text) == time


def test_invalid_time_is_refused_with_an_example() -> None:
    with pytest.raises(InvalidInput, match="2030-01-31T12:00:00"):
        parse_since("yesterday")
