"""Kinds of devices that are added from outside of the service."""
