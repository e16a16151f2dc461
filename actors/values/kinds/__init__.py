"""Kinds of devices: one file with a KindSpec per kind, and their registry."""
