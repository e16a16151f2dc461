"""Bytes of each protocol: encode and decode, nothing else; the threads of the links call them."""
