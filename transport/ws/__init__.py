"""The WebSocket channels: sessions and events."""
