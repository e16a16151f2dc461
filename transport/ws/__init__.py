"""WebSocket channels of sessions and events."""
