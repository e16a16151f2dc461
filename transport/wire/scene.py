"""Convert a session's scene from and to JSON: `configure.scene`, `config.scene` and the HTTP area. Partial on input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from actors.kit.errors import InvalidInput
from actors.session.api import SetScene, check_id, checked_field
from actors.values.commands import XYZ
from actors.values.similar import MOST_LETTERS, nearest
from fastpath.scene.values import FIELDS, MOST_FIELDS, Field, Form, Parameter, Scene, Value
from transport.wire import shapes

PARTS: Final = ("fields", "replace")
# Ids in one message: a full scene is removed and another one is sent.
MOST_NAMED: Final = 2 * MOST_FIELDS
STATIC_DYNAMIC: Final = ("static", "dynamic")
KEYS: Final[Mapping[Form, tuple[str, ...]]] = {
    Form.POINT: XYZ,
    Form.DIRECTION: XYZ,
    Form.FORCE: XYZ,
    Form.SIZE: XYZ,
    Form.DIAGONAL: XYZ,
    Form.ROTATION: shapes.WXYZ,
    Form.FRICTION: STATIC_DYNAMIC,
}


@dataclass(slots=True)
class _Hints:
    """Likely words for unknown ones, for as many as a frame shows: each takes up to a millisecond."""

    left: int = shapes.MOST_NAMED

    def meant(self, word: str, known: tuple[str, ...], otherwise: str) -> str:
        """Return the reason for an unknown word: the known one that it probably means, else `otherwise`."""
        self.left -= 1
        meant = nearest(word[:MOST_LETTERS], known) if self.left >= 0 else None
        return f"unknown: did you mean {meant}?" if meant else f"unknown: {otherwise}"


def read(
    value: Any, path: str, device_id: str, note: shapes.NameUnknown, refuse: Callable[[str, str], None]
) -> SetScene:
    """Parse `{"fields"?, "replace"?}`; `refuse(path, reason)` is called for each faulty field, the others count. InvalidInput."""
    parts = shapes.mapping(value, path)
    shapes.some_known(parts, PARTS, path, note)
    replace = parts.get("replace", False)
    if not isinstance(replace, bool):
        raise InvalidInput(f"a boolean is needed, not {shapes.kind(replace)}", f"{path}.replace")
    sent = shapes.mapping(parts["fields"], f"{path}.fields") if "fields" in parts else {}
    if len(sent) > MOST_NAMED:
        raise InvalidInput(f"one message names at most {MOST_NAMED} fields, and this one {len(sent)}", f"{path}.fields")
    fields: list[tuple[str, Field | None]] = []
    kept: list[str] = []
    hints = _Hints()
    for name, entry in sent.items():
        where = f"{path}.fields.{name[:40]}"
        try:
            check_id(name)
            fields.append((name, None if entry is None else _field(entry, where, note, hints)))
        except InvalidInput as error:
            refuse(error.path or where, error.reason)
            kept.append(name)
    return SetScene(device_id, tuple(fields), replace, tuple(kept), path)


def shown(scene: Scene) -> dict[str, Any]:
    """Return the whole scene as JSON; parameters that are not set are left out."""
    return {"fields": {name: _field_shown(field) for name, field in scene.items()}}


def _field(value: Any, path: str, note: shapes.NameUnknown, hints: _Hints) -> Field:
    """Parse one field, which needs the parameters of its name; InvalidInput."""
    sent = shapes.mapping(value, path)
    if "field" not in sent:
        raise InvalidInput(f"field is missing: it is one of {', '.join(FIELDS)}", f"{path}.field")
    name = shapes.text(sent["field"], f"{path}.field")
    parameters = FIELDS.get(name)
    if parameters is None:
        raise InvalidInput(hints.meant(name, tuple(FIELDS), f"use {', '.join(FIELDS)}"), f"{path}.field")
    known = ("field", *parameters)
    for key in [key for key in sent if key not in known][: shapes.MOST_NAMED]:
        note(f"{path}.{key[:40]}", hints.meant(key, known, f"a {name} has {', '.join(parameters)}"))
    values = {
        key: _value(sent[key], parameter, f"{path}.{key}", note) for key, parameter in parameters.items() if key in sent
    }
    try:
        return checked_field(name, values)
    except InvalidInput as error:
        raise InvalidInput(error.reason, f"{path}.{error.path}" if error.path else path) from None


def _value(value: Any, parameter: Parameter, path: str, note: shapes.NameUnknown) -> Any:
    """Return the value of a parameter, whose bounds are not checked yet; InvalidInput for another type of JSON."""
    match parameter.form:
        case Form.FLAG:
            if not isinstance(value, bool):
                raise InvalidInput(f"a boolean is needed, not {shapes.kind(value)}", path)
            return value
        case Form.AXES:
            return tuple(_array(value, path))
        case Form.NUMBER:
            return shapes.number(value, path)
        case Form.MATRIX:
            return _matrix(value, path)
        case Form.DIAGONAL if not isinstance(value, dict):
            return shapes.number(value, path)
        case form:
            return shapes.numbers(value, KEYS[form], path, note)


def _array(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"an array is needed, not {shapes.kind(value)}", path)
    return value


def _matrix(value: Any, path: str) -> tuple[float, ...]:
    numbers = _array(value, path)
    if len(numbers) != 9:
        raise InvalidInput(f"nine numbers are needed, row by row, and these are {len(numbers)}", path)
    return tuple(shapes.number(entry, f"{path}[{index}]") for index, entry in enumerate(numbers))


def _field_shown(field: Field) -> dict[str, Any]:
    parameters = FIELDS[field.field]
    values = {key: _value_shown(field.values[key], row.form) for key, row in parameters.items() if key in field.values}
    return {"field": field.field, **values}


def _value_shown(value: Value, form: Form) -> object:
    if not isinstance(value, tuple):
        return value
    return dict(zip(KEYS[form], value, strict=True)) if form in KEYS else list(value)
