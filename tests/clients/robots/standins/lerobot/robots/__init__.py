"""Robots."""
