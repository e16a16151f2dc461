"""Coordinate transforms between a device and an application: basis, mount, workspace, clutch."""
