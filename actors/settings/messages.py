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
    """No setting has that key; names up to three that look like it."""

    def __init__(self, key: str, known: Iterable[str]) -> None:
        """`known` are the keys that there are."""
        super().__init__(_short(key))
        near = _nearest(key, sorted(known))
        if near:
            self.sentence = f'There is no setting "{self.wanted}": did you mean {" or ".join(near)}?'
            self.args = (self.sentence,)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a value must satisfy: a number in `least`…`most`, one of `choices` (or either, where both are given), null where `nullable`."""

    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False

    def as_json(self) -> dict[str, object]:
        """`{"range": {"min", "max"}}`, `{"choices": […]}`, `{"nullable": true}`: those that hold."""
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
    """One setting as it is shown: `value` is stored (or the default), `effective` is what the running service goes by."""

    key: str
    value: Value
    effective: Value
    default: Value
    type_hint: str
    constraint: Constraint
    description: str
    unit: str | None = None
    locked: bool = False
    advanced: bool = False
    overridden_by: str | None = None
    restart_required: bool = False
    always_listed: bool = False

    def as_json(self) -> dict[str, object]:
        """The record of `/settings/{key}`; `unit`, `overridden_by` and `restart_required` only where they say something."""
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
    """Every setting at one moment, by key; immutable, so any thread may keep it."""

    records: Mapping[str, SettingView] = field(default_factory=lambda: MappingProxyType({}))

    def record(self, key: str) -> SettingView:
        """The record of `key`; a form `devices/{kind or id}/…` that nobody set shows what `haptic*` gives; else NoSuchSetting."""
        found = self.records.get(key)
        if found is not None:
            return found
        form = DEVICE_KEY.fullmatch(key)
        family = self.records.get(FAMILY + form[2]) if form else None
        if family is None:
            raise UnknownSetting(key, self.records)
        return replace(family, key=key, value=family.effective, overridden_by=None, restart_required=False)

    def listed(self, prefix: str = "", *, advanced: bool = False) -> tuple[SettingView, ...]:
        """The records under `prefix` (whole segments), in the catalogue's order; advanced ones if asked for, always listed or `misc/hidden_settings`."""
        every = advanced or self.flag("misc/hidden_settings")
        under = prefix.rstrip("/") + "/" if prefix else ""
        return tuple(
            record
            for record in self.records.values()
            if record.key.startswith(under) and (every or record.always_listed or not record.advanced)
        )

    def value(self, key: str) -> Value:
        """The effective value of `key`."""
        return self.record(key).effective

    def device(self, device_id: str, kind: str, area: str) -> Value:
        """The effective value of `area` for one device: that of its id, else of its kind, else of `haptic*`."""
        for who in (device_id, kind):
            record = self.records.get(f"devices/{who}/{area}")
            if record is not None:
                return record.effective
        return self.value(FAMILY + area)

    def flag(self, key: str) -> bool:
        """The effective value of a BOOL."""
        return _typed(key, self.value(key), bool)

    def integer(self, key: str) -> int:
        """The effective value of an INT."""
        return _typed(key, self.value(key), int)

    def number(self, key: str) -> float:
        """The effective value of an INT or FLOAT, as a float."""
        value = self.value(key)
        return float(value) if type(value) is int else _typed(key, value, float)

    def text(self, key: str) -> str:
        """The effective value of a STRING."""
        return _typed(key, self.value(key), str)

    def texts(self, key: str) -> tuple[str, ...]:
        """The effective value of an ARR_STRING."""
        value = self.value(key)
        if not isinstance(value, tuple):
            raise TypeError(f"{key} holds {type(value).__name__}, not a list")
        return tuple(str(entry) for entry in value)


@dataclass(frozen=True, slots=True)
class SetSetting(Request[SettingView]):
    """Store one value, as it came from JSON; InvalidInput, NoSuchSetting or StateNotWritable, and then nothing has changed."""

    key: str
    value: object


@dataclass(frozen=True, slots=True)
class SetSettings(Request[tuple[SettingView, ...]]):
    """Store several values, all or none; the records come back in the order of `values`."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ResetSetting(Request[SettingView]):
    """Forget the stored value of one setting."""

    key: str


@dataclass(frozen=True, slots=True)
class SettingChanged(Message):
    """The running service goes by another value of `key` from now on; the published SettingsView has it already."""

    key: str
    value: Value


@dataclass(frozen=True, slots=True)
class SaveLedger(Request[HapticError | None]):
    """Remember `value` (JSON) as one section of the ledger, None forgets it; told by actors or asked, never raises.

    The reply is None once it is on the disk. StateNotWritable: it is remembered in memory and written as soon as that works.
    """

    section: str
    value: object


@dataclass(frozen=True, slots=True)
class ConfirmLedger(Request[None]):
    """Answered when all that was told before is on the disk; else StateNotWritable."""


@dataclass(frozen=True, slots=True)
class ReserveSessionIds(Message):
    """The block of session ids runs low: reserve the next one."""

    repeatable: ClassVar[bool] = True


class LedgerSections(Protocol):
    """What was remembered; read by any thread, at any time, also while the store restarts."""

    def section(self, name: str) -> Frozen:
        """What was remembered under `name`, immutable; None when nothing was."""
        ...


class SessionIdSource(Protocol):
    """Session ids that are never given twice, whatever crashes."""

    @property
    def running_low(self) -> bool:
        """True when ReserveSessionIds should be told to the store."""
        ...

    def take(self) -> int:
        """An id that nobody ever had; Busy while none is reserved. For one thread."""
        ...


def value_as_json(value: Value) -> object:
    """A value as `json.dumps` and the edge's encoder take it: lists for arrays, `{x, y, z}` for a VEC3."""
    if not isinstance(value, tuple):
        return value
    if value and isinstance(value[0], float):
        return dict(zip("xyz", value, strict=True))
    return list(value)


def _typed(key: str, value: Value, kind: type[T]) -> T:
    """`value` as `kind`; TypeError when the code asks a setting for what its type hint does not say."""
    if type(value) is not kind:
        raise TypeError(f"{key} holds {type(value).__name__}, not {kind.__name__}")
    return value


def _nearest(key: str, known: list[str]) -> list[str]:
    """Up to three known keys that are spelt like `key`, then those that have its last segment."""
    near = difflib.get_close_matches(key[:80], known, n=3, cutoff=0.6)
    last = key.rsplit("/", 1)[-1]
    near += [other for other in known if last in other.split("/") and other not in near]
    return near[:3]


def _short(key: str) -> str:
    """A key from outside, fit for a message: printable, at most 80 characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in key)
    return f"{text[:79]}…" if len(text) > 80 else text
