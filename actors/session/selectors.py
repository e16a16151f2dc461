"""Parse session selectors of paths and of `?session=`: `7`, `#7`, `:0`, `name`, `name:-1`, `sim*`.

`default` means the start values of new sessions, `:default` the sessions without a profile. Wildcards are `*` (any characters)
and `?` (one character); case matters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from actors.kit.errors import InvalidInput, NoSuchSession
from actors.session.messages import NO_PROFILE, SessionRecord, SessionTable
from actors.values.selector import is_pattern, matches

_ID: Final = re.compile(r"#?([0-9]{1,19})")
_INDEXED: Final = re.compile(r"(.*):(-?[0-9]{1,9})", re.DOTALL)
_LONGEST: Final = 128
# The sessions whose profile is `default`; `default` alone means the start values of new sessions.
NAMED_DEFAULT: Final = f":{NO_PROFILE}"
_SHOWN: Final = 80


class DefaultIsNoSession(NoSuchSession):
    """The selector `default` was used where a connected session is required."""

    hint = "it names the start values of new sessions; sessions without a profile are :default, one of them default:0"


@dataclass(frozen=True, slots=True)
class Selector:
    """A parsed selector: an id, or the sessions of a profile name or pattern."""

    text: str
    session_id: int | None = None
    name: str | None = None  # profile name or pattern; None: all sessions
    index: int | None = None  # position among those sessions, negative from the end; None: all of them

    @property
    def is_pattern(self) -> bool:
        """Whether it has a wildcard and no index."""
        return self.name is not None and self.index is None and is_pattern(self.name)

    @property
    def is_default(self) -> bool:
        """Whether it is `default`: the start values of new sessions, never a connected session."""
        return self.text == NO_PROFILE


@dataclass(frozen=True, slots=True)
class Selected:
    """The sessions that a selector matches, oldest first."""

    selector: Selector
    sessions: tuple[SessionRecord, ...]

    @property
    def several(self) -> bool:
        """Whether it may match several: a pattern (even with one match or none), or a name of several sessions."""
        return self.selector.is_pattern or self.many

    @property
    def many(self) -> bool:
        """Whether several sessions match, so that the answer is a list of results."""
        return len(self.sessions) > 1

    def some(self) -> tuple[SessionRecord, ...]:
        """Return at least one session; NoSuchSession."""
        if self.selector.is_default:
            raise DefaultIsNoSession(self.selector.text)
        if not self.sessions:
            raise NoSuchSession(_shown(self.selector.text))
        return self.sessions


def parse_selector(text: str, *, start_values: bool = True) -> Selector:
    """Parse a percent-decoded selector; InvalidInput if empty or too long.

    `start_values` False: `default` is an ordinary profile name, as `:default` always is.
    """
    if not text or len(text) > _LONGEST:
        raise InvalidInput(f"Name a session by id, index or profile, in 1 to {_LONGEST} characters.")
    if text == NAMED_DEFAULT or (text == NO_PROFILE and not start_values):
        return Selector(NAMED_DEFAULT, name=NO_PROFILE)
    if found := _ID.fullmatch(text):
        return Selector(text, session_id=int(found[1]))
    if found := _INDEXED.fullmatch(text):
        return Selector(text, name=found[1].removeprefix(":") if found[1] else None, index=int(found[2]))
    return Selector(text, name=text)


def select(selector: Selector, table: SessionTable) -> Selected:
    """Return the sessions of the table that match; none for `default`."""
    if selector.is_default:
        return Selected(selector, ())
    if selector.session_id is not None:
        return Selected(selector, tuple(s for s in table.sessions if s.session_id == selector.session_id))
    named = table.sessions
    if selector.name is not None:
        named = tuple(record for record in table.sessions if matches(selector.name, record.config.profile))
    if selector.index is None:
        return Selected(selector, named)
    at = selector.index + (len(named) if selector.index < 0 else 0)
    return Selected(selector, named[at : at + 1] if at >= 0 else ())


def _shown(text: str) -> str:
    """Return the selector for an error sentence: printable, at most 80 characters."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f"{printable[:_SHOWN]}…" if len(printable) > _SHOWN else printable
