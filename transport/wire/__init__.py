"""Names and shapes on the wire; no sockets."""
