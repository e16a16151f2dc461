"""Ports of the machine and one driver per protocol; implements actors/port/link_interface.py."""
