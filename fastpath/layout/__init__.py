"""Structs and constants that the loop shares with Python, defined in C and exported to Python."""
