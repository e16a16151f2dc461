"""What transport may use of the control slice: messages and rules. Transport imports no other module of it."""

from __future__ import annotations

from actors.control.cores import Cores, of_this_machine
from actors.control.messages import FASTPATH, SetTickShare

__all__ = [
    "FASTPATH",
    "Cores",
    "SetTickShare",
    "of_this_machine",
]
