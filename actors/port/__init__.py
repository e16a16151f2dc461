"""Ports: which are seen, which are kept closed because a device came and went too often."""
