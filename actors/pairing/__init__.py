"""Pairing of movers with handles, attachment of handles, and calibration."""
