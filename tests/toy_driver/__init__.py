"""Example driver that CONTRIBUTING.md describes: a serial orientation sensor, shown as a pen."""
