"""Fixtures of the benchmarks: one result table for the whole run, printed at its end."""

from __future__ import annotations

from bench.support.plugin import pytest_addoption, pytest_terminal_summary, results

__all__ = ["pytest_addoption", "pytest_terminal_summary", "results"]
