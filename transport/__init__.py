"""The edge: command line, listeners, HTTP and WebSocket handlers, and the shapes on the wire."""
