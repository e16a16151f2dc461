"""Immutable values that several slices share; standard library only."""
