"""The streaming thread: set-points of clients in, frames out, without the interpreter."""
