"""Rate limit of hints: how many at once, how often later, and the count of the suppressed."""

from __future__ import annotations

from transport.wire.hint_limit import AT_ONCE, ONE_EVERY_NS, HintLimit


def test_hints_are_limited_and_suppressed_ones_counted() -> None:
    limit = HintLimit()

    assert [limit.due(0) for _ in range(AT_ONCE + 3)] == [0] * AT_ONCE + [None] * 3
    assert limit.due(ONE_EVERY_NS - 1) is None
    assert limit.due(ONE_EVERY_NS) == 4
    assert limit.due(ONE_EVERY_NS) is None
    assert [limit.due(100 * ONE_EVERY_NS) for _ in range(AT_ONCE + 1)] == [1] + [0] * (AT_ONCE - 1) + [None]
