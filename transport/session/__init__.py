"""One open session at the edge, shared by HTTP and WebSocket: its devices, words, modules and events."""
