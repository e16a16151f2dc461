"""One open session at the edge, shared by HTTP and WebSocket: its devices, vocabulary, modules and events."""
