"""Addresses of services."""

from __future__ import annotations

from pathlib import Path

import pytest

from hapticd_client.core.address import parse_address


@pytest.mark.parametrize(
    ("url", "websocket"),
    [
        ("ws://localhost:10001", "ws://localhost:10001/"),
        ("http://127.0.0.1:10001/", "ws://127.0.0.1:10001/"),
        ("wss://lab.example/haptics", "wss://lab.example:443/haptics/"),
        ("[::1]:10001", "ws://[::1]:10001/"),
        ("lab:10001", "ws://lab:10001/"),
    ],
)
def test_address_of_a_socket(url: str, websocket: str) -> None:
    assert parse_address(url, environment={}).websocket == websocket


def test_without_an_address_it_is_that_of_the_environment_or_this_machine() -> None:
    assert parse_address(None, environment={}).websocket == "ws://localhost:10001/"
    assert parse_address(None, environment={"HAPTICD_URL": "ws://lab:7"}).websocket == "ws://lab:7/"


def test_local_address_names_a_state_directory_and_http_beside_it() -> None:
    named = parse_address("local:/run/x", "http://localhost:7", {})
    assert (named.local, named.port) == (Path("/run/x"), 7)
    usual = parse_address("local:", None, {"HOME": "/home/me"})
    assert usual.local == Path("/home/me/.local/state/hapticd")


@pytest.mark.parametrize(
    "url", ["ftp://x", "ws://", "ws://x:0", "ws://x:99999", "ws://a b", "ws://me@x", "ws://x?y=1", ""]
)
def test_what_is_no_address_is_refused_with_a_sentence_that_says_what_to_write(url: str) -> None:
    with pytest.raises(ValueError, match="write ws://HOST:PORT"):
        parse_address(url, environment={})
