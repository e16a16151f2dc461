"""Bytes of each protocol: encode and decode, nothing else."""
