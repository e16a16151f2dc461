"""Shipped values of limits that are too long to wait for in a test."""

from __future__ import annotations

from actors.session import profile
from transport.http import app
from transport.http.base import LONGEST_BODY
from transport.limits import EdgeLimits
from transport.ws import session


def test_silent_connection_is_pinged_after_30_s_and_closed_after_60_s() -> None:
    assert (app.PING_AFTER_S, app.PING_AFTER_S + app.PONG_WITHIN_S) == (30, 60)


def test_a_client_that_takes_no_frames_is_closed_after_10_s() -> None:
    assert session.DRAIN_S == 10
    assert session.MOST_UNSENT_BYTES == 64 * 1024


def test_messages_and_bodies_are_limited_to_64_kib() -> None:
    assert session.LONGEST_MESSAGE == 64 * 1024
    assert LONGEST_BODY == 64 * 1024


def test_remote_peer_may_send_a_thousand_requests_per_second() -> None:
    limits = EdgeLimits()

    assert limits.requests_per_s == 1000
    assert limits.first_request_s == 10


def test_last_thousand_sessions_are_stored() -> None:
    assert profile.REMEMBERED == 1000
