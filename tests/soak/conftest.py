"""Fixtures of the soak tests: one result table for the whole run, printed at its end."""

from __future__ import annotations

from bench.support.plugin import board, pytest_terminal_summary

__all__ = ["board", "pytest_terminal_summary"]
