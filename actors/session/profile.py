"""Rules of profiles and SDK versions: valid names, comparison, and the memory of ended sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar

from actors.kit.errors import InvalidInput
from actors.session.messages import NO_PROFILE
from actors.settings.messages import Frozen

K = TypeVar("K")
V = TypeVar("V")

LONGEST_NAME: Final = 100
LONGEST_VERSION: Final = 32
REMEMBERED: Final = 1_000
NO_VERSIONS: Final[Mapping[str, str]] = MappingProxyType({})


def check_name(name: str) -> str:
    """Return the profile name if it is 1 to 100 printable characters, else InvalidInput."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"a profile name has 1 to {LONGEST_NAME} printable characters")
    return name


def version_parts(version: str) -> tuple[int, ...]:
    """Return `3.5.3` as numbers without trailing zeros, so that missing parts count as 0; InvalidInput."""
    parts = version.split(".")
    if len(version) > LONGEST_VERSION or not all(part.isascii() and part.isdecimal() for part in parts):
        raise InvalidInput('a version is numbers and dots, such as "3.5.3"')
    numbers = [int(part) for part in parts]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Profile and version that a session gets back when it reconnects."""

    profile: str = NO_PROFILE
    required_sdk_version: str | None = None
    from_profile: bool = False  # the version was remembered for the profile's name, the session declared none itself


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """Remembered sessions and versions, at most REMEMBERED of each."""

    sessions: Mapping[int, Remembered] = field(default_factory=lambda: MappingProxyType({}))  # by id, oldest first
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # SDK version by profile name

    def with_session(
        self, session_id: int, now: Remembered, before: Remembered, declared: Mapping[str, str] = NO_VERSIONS
    ) -> SessionMemory:
        """Return the memory with `now` for that session; a version that it declared is kept under its profile's name.

        The version of a name that it cleared is forgotten, unless `declared` (declared by open sessions, by name) has one.
        """
        versions = dict(self.versions)
        known = versions.pop(now.profile, None)
        own = None if now.from_profile else now.required_sdk_version
        # The end of a session declares nothing: another may have declared a newer version under that name.
        version = own if now != before and own is not None else known or own
        if now.profile != NO_PROFILE and version is not None:
            versions[now.profile] = version
        if now == Remembered() and before.profile != NO_PROFILE:
            versions.pop(before.profile, None)
            if before.profile in declared:
                versions[before.profile] = declared[before.profile]
        sessions = {known: value for known, value in self.sessions.items() if known != session_id}
        sessions[session_id] = now
        return SessionMemory(_newest(sessions), _newest(versions))

    def as_json(self) -> dict[str, object]:
        """Return the ledger section."""
        return {
            "sessions": [
                [known, value.profile, value.required_sdk_version, value.from_profile]
                for known, value in self.sessions.items()
            ],
            "versions": dict(self.versions),
        }

    @classmethod
    def from_json(cls, value: Frozen) -> SessionMemory:
        """Parse the ledger section; leave out what is invalid."""
        ledger: Mapping[str, Frozen] = value if isinstance(value, Mapping) else {}
        entries, named = ledger.get("sessions"), ledger.get("versions")
        sessions = [_session(entry) for entry in entries] if isinstance(entries, tuple) else []
        versions: Mapping[str, Frozen] = named if isinstance(named, Mapping) else {}
        return cls(
            _newest(dict(found for found in sessions if found is not None)),
            _newest(
                {
                    name: version
                    for name, version in versions.items()
                    if isinstance(version, str) and name != NO_PROFILE and _readable(name, version)
                }
            ),
        )


def _newest(kept: dict[K, V]) -> Mapping[K, V]:
    """Return the last REMEMBERED entries."""
    return MappingProxyType(dict(list(kept.items())[-REMEMBERED:]))


def _session(entry: Frozen) -> tuple[int, Remembered] | None:
    """Parse one remembered session; None if invalid."""
    match entry:
        case (int() as known, str() as profile, (str() | None) as version, bool() as from_profile):
            pass
        case (int() as known, str() as profile, (str() | None) as version):
            # A ledger without the version's origin.
            from_profile = False
        case _:
            return None
    if type(known) is int and known > 0 and _readable(profile, "0" if version is None else version):
        return known, Remembered(profile, version, from_profile)
    return None


def _readable(name: str, version: str) -> bool:
    """Whether name and version are valid."""
    try:
        check_name(name)
        version_parts(version)
    except InvalidInput:
        return False
    return True
