"""Messages of the settings store, and SettingsView, the published snapshot of all settings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Final, Protocol, TypeAlias, TypeVar

from actors.kit.errors import HapticError, NoSuchSetting
from actors.kit.message import Message, Request

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | tuple[float, float, float] | None
Frozen: TypeAlias = "bool | int | float | str | tuple[Frozen, ...] | Mapping[str, Frozen] | None"

T = TypeVar("T")

STORE: Final = "settings"
FAMILY: Final = "devices/haptic*/"
DEVICE_KEY: Final = re.compile(r"devices/([^/*?\s]{1,8})/(.+)")


class UnknownSetting(NoSuchSetting):
    """There is no setting of that key; the sentence names up to three similar keys."""

    def __init__(self, key: str, known: Iterable[str]) -> None:
        """`known` are the existing keys."""
        super().__init__(_short(key))
        near = _nearest(key, sorted(known))
        if near:
            self.sentence = f'There is no setting "{self.wanted}": did you mean {" or ".join(near)}?'
            self.args = (self.sentence,)


@dataclass(frozen=True, slots=True)
class Constraint:
    """Condition of a value."""

    least: float | None = None  # of a number; None: no range
    most: float | None = None
    choices: tuple[str, ...] = ()  # with a range as well: either is valid
    nullable: bool = False  # null is valid

    def as_json(self) -> dict[str, object]:
        """Return `{"range": {"min", "max"}}`, `{"choices": […]}`, `{"nullable": true}`, whichever apply."""
        shown: dict[str, object] = {}
        if self.least is not None:
            shown["range"] = {"min": self.least, "max": self.most}
        if self.choices:
            shown["choices"] = list(self.choices)
        if self.nullable:
            shown["nullable"] = True
        return shown


@dataclass(frozen=True, slots=True)
class SettingView:
    """Record of one setting."""

    key: str
    value: Value  # stored, else the default
    effective: Value  # in force
    default: Value
    type_hint: str
    constraint: Constraint
    description: str
    unit: str | None = None
    locked: bool = False  # acts at the next start
    advanced: bool = False
    overridden_by: str | None = None  # source of the override
    restart_required: bool = False
    always_listed: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the record of `/settings/{key}`; `unit`, `overridden_by` and `restart_required` only if set."""
        shown: dict[str, object] = {
            "key": self.key,
            "value": value_as_json(self.value),
            "effective": value_as_json(self.effective),
            "default": value_as_json(self.default),
            "type_hint": str(self.type_hint),
        }
        if self.unit is not None:
            shown["unit"] = self.unit
        shown["metadata"] = {
            "constraint": self.constraint.as_json(),
            "locked": self.locked,
            "advanced": self.advanced,
        }
        if self.overridden_by is not None:
            shown["overridden_by"] = self.overridden_by
        shown["description"] = self.description
        if self.restart_required:
            shown["restart_required"] = True
        return shown


@dataclass(frozen=True, slots=True)
class SettingsView:
    """Immutable snapshot of all settings by key; any thread."""

    records: Mapping[str, SettingView] = field(default_factory=lambda: MappingProxyType({}))

    def record(self, key: str) -> SettingView:
        """Return the record of `key`; a form `devices/{kind or id}/…` without a value has that of `haptic*`. UnknownSetting."""
        found = self.records.get(key)
        if found is not None:
            return found
        form = DEVICE_KEY.fullmatch(key)
        family = self.records.get(FAMILY + form[2]) if form else None
        if family is None:
            raise UnknownSetting(key, self.records)
        return replace(family, key=key, value=family.effective, overridden_by=None, restart_required=False)

    def listed(self, prefix: str = "", *, advanced: bool = False) -> tuple[SettingView, ...]:
        """Return the records under `prefix` (whole segments), in catalogue order; advanced ones only if requested."""
        every = advanced or self.flag("misc/hidden_settings")
        under = prefix.rstrip("/") + "/" if prefix else ""
        return tuple(
            record
            for record in self.records.values()
            if record.key.startswith(under) and (every or record.always_listed or not record.advanced)
        )

    def value(self, key: str) -> Value:
        """Return the effective value of `key`."""
        return self.record(key).effective

    def device(self, device_id: str, kind: str, area: str) -> Value:
        """Return the effective value of `area` for one device: by its id, else its kind, else `haptic*`."""
        for who in (device_id, kind):
            record = self.records.get(f"devices/{who}/{area}")
            if record is not None:
                return record.effective
        return self.value(FAMILY + area)

    def flag(self, key: str) -> bool:
        """Return the effective value of a BOOL."""
        return _typed(key, self.value(key), bool)

    def integer(self, key: str) -> int:
        """Return the effective value of an INT."""
        return _typed(key, self.value(key), int)

    def number(self, key: str) -> float:
        """Return the effective value of an INT or FLOAT, as a float."""
        value = self.value(key)
        return float(value) if type(value) is int else _typed(key, value, float)

    def text(self, key: str) -> str:
        """Return the effective value of a STRING."""
        return _typed(key, self.value(key), str)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the effective value of an ARR_STRING."""
        value = self.value(key)
        if not isinstance(value, tuple):
            raise TypeError(f"{key} holds {type(value).__name__}, not a list")
        return tuple(str(entry) for entry in value)


@dataclass(frozen=True, slots=True)
class SetSetting(Request[SettingView]):
    """Store one value, parsed from JSON. InvalidInput, NoSuchSetting, StateNotWritable: nothing changed."""

    key: str
    value: object


@dataclass(frozen=True, slots=True)
class SetSettings(Request[tuple[SettingView, ...]]):
    """Store several values, all or none; the reply has the records in the order of `values`."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ResetSetting(Request[SettingView]):
    """Remove the stored value of one setting."""

    key: str


@dataclass(frozen=True, slots=True)
class SettingChanged(Message):
    """The effective value of `key` changed; the published SettingsView has it already."""

    key: str
    value: Value


@dataclass(frozen=True, slots=True)
class SaveLedger(Request[HapticError | None]):
    """Replace one section of the ledger by `value` (JSON), None removes it; told or asked, never raises.

    The reply is None once it is on the disk, else StateNotWritable: it is kept in memory and written as soon as possible.
    """

    section: str
    value: object


@dataclass(frozen=True, slots=True)
class ConfirmLedger(Request[None]):
    """Reply when all earlier sections are on the disk; StateNotWritable."""


@dataclass(frozen=True, slots=True)
class ReserveSessionIds(Message):
    """Session ids run low: reserve the next block."""

    repeatable: ClassVar[bool] = True


class LedgerSections(Protocol):
    """Read access to the ledger; any thread, also while the store restarts."""

    def section(self, name: str) -> Frozen:
        """Return the section `name`, immutable; None without one."""
        ...


class SessionIdSource(Protocol):
    """Session ids that are never reused, also after a crash."""

    @property
    def running_low(self) -> bool:
        """Whether the store should be told ReserveSessionIds."""
        ...

    def take(self) -> int:
        """Return a new id; Busy while none is reserved. One thread."""
        ...


def value_as_json(value: Value) -> object:
    """Return the value as JSON: lists for arrays, `{x, y, z}` for a VEC3."""
    if not isinstance(value, tuple):
        return value
    if value and isinstance(value[0], float):
        return dict(zip("xyz", value, strict=True))
    return list(value)


def _typed(key: str, value: Value, kind: type[T]) -> T:
    """Return `value` if it has the type `kind`; TypeError: the setting has another type hint."""
    if type(value) is not kind:
        raise TypeError(f"{key} holds {type(value).__name__}, not {kind.__name__}")
    return value


def _nearest(key: str, known: list[str]) -> list[str]:
    """Return up to three known keys: those spelt similarly, then those with the same last segment."""
    near = difflib.get_close_matches(key[:80], known, n=3, cutoff=0.6)
    last = key.rsplit("/", 1)[-1]
    near += [other for other in known if last in other.split("/") and other not in near]
    return near[:3]


def _short(key: str) -> str:
    """Return a key for an error sentence: printable, at most 80 characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in key)
    return f"{text[:79]}…" if len(text) > 80 else text
