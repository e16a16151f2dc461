"""Hypothesis profiles of all tests: no wall-clock deadline, and `fuzz` for `make fuzz`."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("suite", deadline=None, max_examples=50)
settings.register_profile("fuzz", deadline=None, max_examples=10_000)
settings.load_profile("suite")
