"""A driver of a serial protocol as CONTRIBUTING.md describes it: an orientation sensor, which the service shows as a pen."""
