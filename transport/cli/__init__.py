"""Operators' commands of `hapticd`: clients of the public HTTP and WebSocket interface, and the diagnosis of a machine."""
