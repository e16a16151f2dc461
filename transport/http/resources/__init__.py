"""Handlers of the HTTP routes, one file per resource."""
