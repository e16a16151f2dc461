"""Pairing: which arm belongs to which grip or pen, whether that is held, and the calibration of both together."""
