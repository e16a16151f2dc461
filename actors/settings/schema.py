"""Setting, one row of the catalogue: parses values from JSON, the command line, the environment and files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn, cast

from actors.kit.errors import InvalidInput
from actors.settings.messages import Constraint, Value

ANYTHING: Final = Constraint()
TEXT_LENGTH: Final = 256
TRUE: Final = frozenset({"true", "yes", "on", "1"})
FALSE: Final = frozenset({"false", "no", "off", "0"})


class TypeHint(StrEnum):
    """The `type_hint` of a record; GENERIC is one of the choices or a whole number in the range."""

    BOOL = "BOOL"
    INT = "INT"
    FLOAT = "FLOAT"
    STRING = "STRING"
    ARR_STRING = "ARR_STRING"
    VEC3 = "VEC3"
    GENERIC = "GENERIC"


@dataclass(frozen=True, slots=True)
class TextRule:
    """Rule for a text besides being printable."""

    words: str  # finishes the sentence "give …"
    accepts: Callable[[str], bool]
    pattern: str | None = None  # the rule as a regular expression of the whole text, if there is one


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the catalogue."""

    key: str
    type_hint: TypeHint
    default: Value
    description: str
    unit: str | None = None
    constraint: Constraint = ANYTHING
    text_rule: TextRule | None = None
    entries: int = 64  # of a list, at most
    locked: bool = False  # acts at the next start
    advanced: bool = False  # listed with ?advanced=true only
    local_only: tuple[Value, ...] = ()  # values that the command line and the file may give, and nothing else
    always_listed: bool = False  # listed although advanced

    @property
    def section(self) -> str:
        """The first segment of the key."""
        return self.key.partition("/")[0]

    def parse(self, raw: object) -> Value:
        """Return the typed value of a JSON value; InvalidInput says which values are accepted."""
        if raw is None:
            if self.constraint.nullable:
                return None
            raise self.refusal("nothing")
        match self.type_hint:
            case TypeHint.BOOL:
                return raw if isinstance(raw, bool) else self._refuse(raw)
            case TypeHint.INT:
                return self._whole(raw)
            case TypeHint.FLOAT:
                return self._real(raw)
            case TypeHint.STRING:
                return self._text(raw)
            case TypeHint.ARR_STRING:
                return self._texts(raw)
            case TypeHint.VEC3:
                return self._vector(raw)
            case TypeHint.GENERIC:
                return self._text(raw) if isinstance(raw, str) else self._whole(raw)

    def parse_text(self, text: str) -> Value:
        """Return the typed value of a command-line or environment text: `true`, `0.5`, `null`; `a,b` or JSON for lists and vectors."""
        words = text.strip()
        if self.constraint.nullable and words.lower() == "null":
            return None
        match self.type_hint:
            case TypeHint.BOOL:
                lowered = words.lower()
                return lowered in TRUE if lowered in TRUE | FALSE else self._refuse(text)
            case TypeHint.INT:
                return self.parse(_number(words, int, text))
            case TypeHint.FLOAT:
                return self.parse(_number(words, float, text))
            case TypeHint.STRING:
                return self.parse(text)
            case TypeHint.ARR_STRING:
                return self.parse(_json(words) if words.startswith("[") else _entries(words))
            case TypeHint.VEC3:
                return self.parse(_json(words if words.startswith(("[", "{")) else f"[{words}]"))
            case TypeHint.GENERIC:
                return self.parse(text if text in self.constraint.choices else _number(words, int, text))

    def refusal(self, given: str) -> InvalidInput:
        """Return the error for a value that is shown as `given`."""
        return InvalidInput(f"give {self.wanted()}, not {given}.", self.key)

    def local_only_error(self, value: Value) -> InvalidInput:
        """Return the error for a `local_only` value from HTTP or the environment."""
        text = shown(value)
        return InvalidInput(f"start the service with --set {self.key}={text}, or write it in settings.json.", self.key)

    def wanted(self) -> str:
        """Return the accepted values as words that follow "give"."""
        words = self._wanted_value()
        return f"{words}, or null" if self.constraint.nullable else words

    def _wanted_value(self) -> str:
        limits = self.constraint
        choices = _either(limits.choices)
        span = "" if limits.least is None else f" from {_plain(limits.least)} to {_plain(limits.most)}"
        unit = f" {self.unit}" if self.unit and span else ""
        one = (
            self.text_rule.words if self.text_rule else choices or f"a printable text of 1 to {TEXT_LENGTH} characters"
        )
        match self.type_hint:
            case TypeHint.BOOL:
                return "true or false"
            case TypeHint.INT:
                return f"a whole number{span}{unit}"
            case TypeHint.FLOAT:
                return f"a number{span}{unit}"
            case TypeHint.STRING:
                return one
            case TypeHint.ARR_STRING:
                return f"a list of at most {self.entries} texts, each {one}"
            case TypeHint.VEC3:
                return f'{{"x", "y", "z"}} or a list of three, each a number{span}{unit}'
            case TypeHint.GENERIC:
                return f"{choices} or a whole number{span}{unit}" if choices else f"a whole number{span}{unit}"

    def _whole(self, raw: object) -> int:
        if isinstance(raw, float) and raw.is_integer():
            raw = int(raw)
        if not isinstance(raw, int) or isinstance(raw, bool) or not self._within(raw):
            return self._refuse(raw)
        return raw

    def _real(self, raw: object) -> float:
        if not isinstance(raw, int | float) or isinstance(raw, bool) or not self._within(raw):
            return self._refuse(raw)
        return float(raw) + 0.0

    def _within(self, number: float) -> bool:
        least, most = self.constraint.least, self.constraint.most
        return (least is None or number >= least) and (most is None or number <= most) and abs(number) <= 1e300

    def _text(self, raw: object) -> str:
        if not isinstance(raw, str) or not 0 < len(raw) <= TEXT_LENGTH or not raw.isprintable():
            return self._refuse(raw)
        if self.constraint.choices and raw not in self.constraint.choices:
            return self._refuse(raw)
        if self.text_rule and not self.text_rule.accepts(raw):
            return self._refuse(raw)
        return raw

    def _texts(self, raw: object) -> tuple[str, ...]:
        if not isinstance(raw, list | tuple):
            return self._refuse(raw)
        entries = tuple(cast("Sequence[object]", raw))
        if len(entries) > self.entries:
            raise self.refusal(f"a list of {len(entries)}")
        return tuple(self._text(entry) for entry in entries)

    def _vector(self, raw: object) -> tuple[float, float, float]:
        parts = _parts(raw)
        if len(parts) != 3:
            raise self.refusal(shown(raw))
        x, y, z = (self._real(part) for part in parts)
        return x, y, z

    def _refuse(self, raw: object) -> NoReturn:
        raise self.refusal(shown(raw))


def shown(raw: object) -> str:
    """Return an invalid value for an error sentence, at most 40 characters."""
    if raw is None:
        return "nothing"
    if isinstance(raw, float) and not math.isfinite(raw):
        return "NaN" if math.isnan(raw) else "infinity"
    if isinstance(raw, int) and raw.bit_length() > 128:
        return "a huge number"
    if isinstance(raw, int | float | str):
        text = json.dumps(raw)
        return "an empty text" if text == '""' else f"{text[:39]}…" if len(text) > 40 else text
    return "an object" if isinstance(raw, dict) else "a list"


def _parts(raw: object) -> tuple[object, ...]:
    """Return the entries of a list, or of an object with exactly the keys x, y, z; else ()."""
    if isinstance(raw, list | tuple):
        return tuple(cast("Sequence[object]", raw))
    if isinstance(raw, dict) and set(cast("dict[object, object]", raw)) == set("xyz"):
        return tuple(cast("dict[str, object]", raw)[axis] for axis in "xyz")
    return ()


def _number(words: str, kind: type[int | float], text: str) -> int | float | str:
    """Return the number that `words` spell in ASCII digits; else `text`, which `parse` refuses."""
    try:
        return kind(words) if words.isascii() and "_" not in words else text
    except ValueError:
        return text


def _json(words: str) -> object:
    """Return `words` parsed as JSON; if invalid `words` themselves, which `parse` refuses."""
    try:
        return cast("object", json.loads(words))
    except (ValueError, RecursionError):
        return words


def _entries(words: str) -> list[str]:
    return [entry.strip() for entry in words.split(",")] if words else []


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join((", ".join(choices[:-1]), choices[-1])) if len(choices) > 1 else "".join(choices)


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:.12g}"
