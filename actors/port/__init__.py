"""Ports of the machine: detection of devices, open links, and ports blocked after a connection loop."""
