"""USB devices of closed protocols: recognised, never opened."""
