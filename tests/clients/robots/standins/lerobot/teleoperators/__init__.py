"""Teleoperators."""
