"""Long runs collect rows on one board; the table stands at the end of the run."""

from __future__ import annotations

from bench.support.plugin import board, pytest_terminal_summary

__all__ = ["board", "pytest_terminal_summary"]
