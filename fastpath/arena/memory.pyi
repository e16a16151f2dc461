# ArenaMemory: the arena and its clock, as the Runtime that owns it and the Readers and Writers of its cells share them.

from typing import NamedTuple

# The right to one slot: valid while the slot's generation is this one.
class Lease(NamedTuple):
    slot: int
    generation: int
    name: str

# Base class of Runtime, which allocates the arena and frees it.
class ArenaMemory: ...
