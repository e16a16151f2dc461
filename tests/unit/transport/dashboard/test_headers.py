from __future__ import annotations

import pytest

from transport.dashboard.headers import content_security_policy, page_headers


def directives(policy: str) -> dict[str, list[str]]:
    return {name: values for name, *values in (part.split() for part in policy.split(";"))}


def test_policy_allows_nothing_unsafe_and_no_foreign_place() -> None:
    found = directives(content_security_policy("localhost:10001", [10001, 10000, 10020]))

    assert "unsafe" not in str(found)
    assert found["default-src"] == ["'none'"]
    assert found["script-src"] == found["style-src"] == found["img-src"] == ["'self'"]
    assert found["frame-ancestors"] == found["base-uri"] == found["form-action"] == ["'none'"]
    assert found["require-trusted-types-for"] == ["'script'"]
    # With both `allow-scripts` and `allow-same-origin` it would forbid little, and browsers warn of it.
    assert "sandbox" not in found


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("localhost:10001", "localhost"),
        ("192.0.2.7:10001", "192.0.2.7"),
        ("Bench.local", "bench.local"),
        ("[::1]:10001", "*"),
        ("", "*"),
        ("a; script-src *", "*"),
    ],
)
def test_page_may_connect_to_itself_and_to_the_channels_of_its_host(host: str, place: str) -> None:
    found = directives(content_security_policy(host, [10020, 10001]))

    assert found["connect-src"] == ["'self'", f"ws://{place}:10001", f"ws://{place}:10020"]
    assert found["script-src"] == ["'self'"]


def test_files_are_asked_for_again_and_tell_no_referrer() -> None:
    found = page_headers("localhost", [1])

    assert found["Cache-Control"] == "no-cache"
    assert found["Referrer-Policy"] == "no-referrer"
    assert found["X-Frame-Options"] == "DENY"
