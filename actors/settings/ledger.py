"""What the service must not forget besides its settings: sections of JSON, and session ids that are given once for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from actors.kit.errors import Busy, InvalidInput
from actors.kit.published import Published
from actors.settings.file import FORMAT, Content, StateFile
from actors.settings.frozen import freeze, thaw
from actors.settings.messages import Frozen
from actors.settings.state_directory import StateDirectory

BLOCK: Final = 1_000
NEXT_SESSION_ID: Final = "next_session_id"
RESERVED: Final = frozenset({FORMAT, NEXT_SESSION_ID})


class SessionIds:
    """Ids from blocks that are reserved on the disk first; `take` is for one thread, `reserved` for the ledger's."""

    def __init__(self, first: int) -> None:
        """Nothing is reserved yet; `first` is the lowest id that was never reserved."""
        self._next = first
        self._end = Published(first)

    @property
    def end(self) -> int:
        """The first id that is not reserved."""
        return self._end.value

    @property
    def left(self) -> int:
        """How many ids can be taken."""
        return self._end.value - self._next

    @property
    def running_low(self) -> bool:
        """True when the next block should be reserved."""
        return self.left < BLOCK // 2

    def take(self) -> int:
        """An id that nobody ever had; Busy while no block is reserved."""
        if self._next >= self._end.value:
            raise Busy("No session id could be reserved in the state directory: free space there and try again.")
        taken = self._next
        self._next += 1
        return taken

    def reserved(self, end: int) -> None:
        """All ids below `end` are reserved on the disk from now on."""
        self._end.replace(end)


class Ledger:
    """Outlives the actors; any thread reads sections, one thread at a time (the store's) changes them."""

    def __init__(self, file: StateFile, wall_seconds: Callable[[], int] = lambda: int(time.time())) -> None:
        """Read once, here. `lost`: it could not be read; ids then go on from the seconds since 1970, beyond any that were given."""
        content = file.load()
        self.lost = file.was_broken
        first = content.pop(NEXT_SESSION_ID, wall_seconds() if self.lost else 1)
        self._file = file
        self._sections: Published[Mapping[str, Frozen]] = Published(
            MappingProxyType({name: freeze(value) for name, value in content.items()})
        )
        self._unwritten = False
        self.session_ids = SessionIds(first)

    @classmethod
    def load(cls, directory: StateDirectory) -> Ledger:
        """The ledger of a state directory; a broken file is kept aside and the ledger is empty."""
        return cls(StateFile(directory.ledger, check=check_ledger))

    def section(self, name: str) -> Frozen:
        """What was remembered under `name`, immutable; None when nothing was."""
        return self._sections.value.get(name)

    @property
    def unwritten(self) -> bool:
        """True while memory is ahead of the disk."""
        return self._unwritten

    def remember(self, name: str, value: object) -> None:
        """Replace one section in memory, for all readers; None drops it. InvalidInput: `name` is ours or `value` is no JSON."""
        if name in RESERVED:
            raise InvalidInput("choose another section name, this one is the ledger's own.", name)
        sections = {known: kept for known, kept in self._sections.value.items() if known != name}
        if value is not None:
            sections[name] = freeze(value)
        self._sections.replace(MappingProxyType(sections))
        self._unwritten = True

    def write(self) -> None:
        """Bring the disk up to memory; StateNotWritable leaves `unwritten` true."""
        self._write(self.session_ids.end)

    def reserve_session_ids(self) -> None:
        """Reserve the next block when the present one runs low; StateNotWritable, and then none is handed out from it."""
        if self.session_ids.running_low:
            end = self.session_ids.end + BLOCK
            self._write(end)
            self.session_ids.reserved(end)

    def _write(self, end: int) -> None:
        sections = {name: thaw(value) for name, value in self._sections.value.items()}
        self._file.write({NEXT_SESSION_ID: end, **sections})
        self._unwritten = False


def check_ledger(content: Content) -> None:
    """ValueError when the content is none that a ledger can start from."""
    first = content.get(NEXT_SESSION_ID, 1)
    if type(first) is not int or first < 1:
        raise ValueError(f"{NEXT_SESSION_ID} is no positive whole number")
    try:
        freeze(content)
    except InvalidInput as error:
        raise ValueError(error.sentence) from None
