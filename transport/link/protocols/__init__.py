"""Drivers, one folder per protocol: how a device is detected, opened and driven."""
