"""Kinds of devices: a KindSpec for each, one file a kind, and the registry that lists them."""
