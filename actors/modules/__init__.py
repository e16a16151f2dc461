"""Modules: extensions that add commands, fields or state to sessions. Interface, registry, built-in modules."""
