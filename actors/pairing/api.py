"""What transport may use of the pairing slice: messages and rules. Transport imports no other module of it."""

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
