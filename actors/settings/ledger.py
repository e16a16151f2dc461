"""Ledger: a file of JSON sections that survive a restart, and of session ids that are never reused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from actors.kit.errors import Busy, InvalidInput, StateNotWritable
from actors.kit.published import Published
from actors.settings.file import FORMAT, Content, StateFile
from actors.settings.immutable_json import freeze, thaw
from actors.settings.messages import Frozen
from actors.settings.state_directory import StateDirectory

BLOCK: Final = 1_000
NS_PER_S: Final = 1_000_000_000
NS_PER_US: Final = 1_000
NEXT_SESSION_ID: Final = "next_session_id"
RESERVED: Final = frozenset({FORMAT, NEXT_SESSION_ID})


class SessionIds:
    """Session ids from blocks that are reserved on the disk first. `take` is called on one thread, the rest on the ledger's."""

    def __init__(self, first: int) -> None:
        """`first` is the lowest id that was never reserved; nothing is reserved yet."""
        self._next = first
        self._end = Published(first)
        # First id to give if no block can be reserved; 0 before a reservation failed: docs/decisions/0037.
        self._unreserved = 0
        # Between the two threads: no id is taken while `close` counts the rest.
        self._lock = threading.Lock()

    @property
    def end(self) -> int:
        """The first id that is not reserved."""
        return self._end.value

    @property
    def beyond(self) -> int:
        """The first id that is neither reserved nor taken."""
        return max(self._end.value, self._next)

    @property
    def left(self) -> int:
        """Number of reserved ids that are left."""
        return self._end.value - self._next

    @property
    def running_low(self) -> bool:
        """Whether the next block should be reserved."""
        return self.left < BLOCK // 2

    def take(self) -> int:
        """Return a new id; Busy before the first block is reserved or its reservation failed."""
        with self._lock:
            if self._next >= self._end.value:
                if not self._unreserved:
                    raise Busy("No session id is reserved yet: try again.")
                self._next = max(self._next, self._unreserved)
            taken = self._next
            self._next += 1
            return taken

    def reserved(self, end: int) -> None:
        """Record that all ids below `end` are reserved on the disk."""
        self._end.replace(end)

    def cannot_reserve(self, first: int) -> None:
        """Allow unreserved ids from `first` on, once all reserved ones are taken."""
        self._unreserved = self._unreserved or first

    def close(self) -> int:
        """Return the first id that was not taken; no reserved id is taken afterwards."""
        with self._lock:
            self._end.replace(self._next)
            return self._next


class Ledger:
    """Outlives the actors; any thread reads sections, only the store's thread changes them."""

    def __init__(self, file: StateFile, wall_ns: Callable[[], int] = time.time_ns) -> None:
        """Read the file. `lost`: it was broken; ids then start at the seconds since 1970, above all that were given."""
        content = file.load()
        self.lost = file.was_broken
        first = content.pop(NEXT_SESSION_ID, wall_ns() // NS_PER_S if self.lost else 1)
        self._file = file
        self._wall_ns = wall_ns
        self._trouble = Published("")
        self._sections: Published[Mapping[str, Frozen]] = Published(
            MappingProxyType({name: freeze(value) for name, value in content.items()})
        )
        self._unwritten = False
        self.session_ids = SessionIds(first)

    @classmethod
    def load(cls, directory: StateDirectory) -> Ledger:
        """Return the ledger of a state directory; a broken file is renamed and the ledger is empty."""
        return cls(StateFile(directory.ledger, check=check_ledger))

    def section(self, name: str) -> Frozen:
        """Return the section `name`, immutable; None without one. Any thread."""
        return self._sections.value.get(name)

    @property
    def trouble(self) -> str:
        """Sentence about why the last write failed, else "". Any thread."""
        return self._trouble.value

    @property
    def unwritten(self) -> bool:
        """Whether memory has changes that are not on the disk."""
        return self._unwritten

    def remember(self, name: str, value: object) -> None:
        """Replace one section in memory; None drops it. InvalidInput: reserved `name`, or `value` is not JSON."""
        if name in RESERVED:
            raise InvalidInput("choose another section name, this one is the ledger's own.", name)
        sections = {known: kept for known, kept in self._sections.value.items() if known != name}
        if value is not None:
            sections[name] = freeze(value)
        self._sections.replace(MappingProxyType(sections))
        self._unwritten = True

    def write(self) -> None:
        """Write memory to the disk; StateNotWritable leaves `unwritten` true."""
        self._write(self.session_ids.beyond)

    def reserve_session_ids(self) -> None:
        """Reserve the next block if the present one runs low. StateNotWritable: ids continue at the microseconds since 1970."""
        if self.session_ids.running_low:
            end = self.session_ids.beyond + BLOCK
            try:
                self._write(end)
            except StateNotWritable:
                self.session_ids.cannot_reserve(self._wall_ns() // NS_PER_US)
                raise
            self.session_ids.reserved(end)

    def return_session_ids(self) -> None:
        """Stop giving ids and write that the rest of the block is unused. StateNotWritable: the rest is lost."""
        end = self.session_ids.end
        first_left = self.session_ids.close()
        if first_left != end:
            self._write(first_left)

    def _write(self, end: int) -> None:
        sections = {name: thaw(value) for name, value in self._sections.value.items()}
        try:
            self._file.write({NEXT_SESSION_ID: end, **sections})
        except StateNotWritable as error:
            self._trouble.replace(error.sentence)
            raise
        self._trouble.replace("")
        self._unwritten = False


def check_ledger(content: Content) -> None:
    """Raise ValueError if the content is not a valid ledger."""
    first = content.get(NEXT_SESSION_ID, 1)
    if type(first) is not int or first < 1:
        raise ValueError(f"{NEXT_SESSION_ID} is no positive whole number")
    try:
        freeze(content)
    except InvalidInput as error:
        raise ValueError(error.sentence) from None
