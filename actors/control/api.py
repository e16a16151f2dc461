"""Public interface of the control slice (loop thread, its CPU and its tick share): transport imports only this module of it."""

from __future__ import annotations

from actors.control.cores import Cores, of_this_machine
from actors.control.gap_counters import read_gaps
from actors.control.interruptions import gap_data, interruption_data
from actors.control.messages import FASTPATH, ForceChange, SetTickShare, StepLoop
from actors.control.progress_beat import ProgressBeat

__all__ = [
    "FASTPATH",
    "Cores",
    "ForceChange",
    "ProgressBeat",
    "SetTickShare",
    "StepLoop",
    "gap_data",
    "interruption_data",
    "of_this_machine",
    "read_gaps",
]
