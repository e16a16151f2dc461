"""Structs and constants that the loop shares with the rest, defined in C and shown to Python."""
