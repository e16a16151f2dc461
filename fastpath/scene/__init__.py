"""Scenes: force fields that the loop evaluates itself, described once by a client."""
