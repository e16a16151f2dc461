"""Public interface of the pairing slice (pairs of a device and its handle, calibration): transport imports only this module of it."""

from __future__ import annotations

from actors.pairing.messages import PAIRING, Calibrate, Origin, Pairing, PairManually, Progress, Reason, Unpair
from actors.pairing.pairing_table import PairingTable

__all__ = [
    "PAIRING",
    "Calibrate",
    "Origin",
    "PairManually",
    "Pairing",
    "PairingTable",
    "Progress",
    "Reason",
    "Unpair",
]
