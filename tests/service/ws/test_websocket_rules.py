"""RFC 6455 as a table (websocket_rules.py): by the streaming thread and by the event loop, in one write and byte by byte."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.websocket_rules import FRAME, ROWS, Answer, Row
from tests.support.clients.raw_websocket import CLOSE, PING, PONG, TEXT, ConnectionEnded, RawWebSocket, encode_frame

MARK = b"the end of a case"
SHORT = 400  # bytes: what is longer is not sent byte by byte


def answers(client: RawWebSocket) -> tuple[Answer, ...]:
    """What the service sent, until it closed or answered the mark."""
    found: list[Answer] = []
    with suppress(ConnectionEnded):
        client.write(encode_frame(MARK, PING))
    while True:
        came = client.next()
        if came.opcode == TEXT:
            assert came.final
            found.append(FRAME)
        elif came.opcode == PONG:
            if came.payload == MARK:
                return tuple(found)
            found.append(came.payload)
        else:
            assert came.opcode == CLOSE
            return (*found, came.close_code or 0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section} {row.name}")
def test_bytes_are_answered_as_the_table_says(row: Row, connect: Connect) -> None:
    client, _ = connect()
    with suppress(ConnectionEnded):
        client.write(row.sent)

    assert answers(client) == row.answers


@pytest.mark.parametrize(
    "row", [row for row in ROWS if len(row.sent) <= SHORT], ids=lambda row: f"{row.section} {row.name}"
)
def test_bytes_one_by_one_are_answered_the_same(row: Row, connect: Connect) -> None:
    client, _ = connect()
    with suppress(ConnectionEnded):
        for at in range(len(row.sent)):
            client.write(row.sent[at : at + 1])

    assert answers(client) == row.answers


@pytest.mark.parametrize("row", [row for row in ROWS if row.answers[-1] in (FRAME, 1000)], ids=lambda row: row.name)
def test_rules_hold_behind_a_hundred_set_points(row: Row, connect: Connect) -> None:
    """The connection has been the streaming thread's for long."""
    client, _ = connect()
    for _ in range(100):
        client.send({})
        client.frame()
    client.write(row.sent)

    assert answers(client) == row.answers
