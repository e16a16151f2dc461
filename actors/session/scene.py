"""Rules of a session's scene on a device: add, change and remove fields; the ledger's JSON. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from actors.kit.errors import InvalidInput
from actors.session.scene_fields import checked_field
from fastpath.scene.values import LONGEST_ID, MOST_FIELDS, NO_SCENE, Field, Scene

# Setting without which there are no scenes.
SCENES_ENABLED: Final = "features/scene/enabled"


def changed(
    scene: Scene, fields: Mapping[str, Field | None], *, replace: bool = False, kept: Collection[str] = ()
) -> Scene:
    """Return the scene with these fields, None removes one; `replace` drops all others but the `kept` ids. InvalidInput."""
    now = {name: field for name, field in scene.items() if not replace or name in kept}
    for name, field in fields.items():
        check_id(name)
        if field is None:
            now.pop(name, None)
        else:
            now[name] = field
    if len(now) > MOST_FIELDS:
        raise InvalidInput(f"a scene has at most {MOST_FIELDS} fields, and this one would have {len(now)}")
    return _scene(now)


def check_id(name: str) -> None:
    """Raise InvalidInput unless it is the id of a field."""
    if not (0 < len(name) <= LONGEST_ID and name.isprintable()):
        raise InvalidInput(f"the id of a field is 1 to {LONGEST_ID} printable characters")


def as_json(scene: Scene) -> dict[str, object]:
    """Return the scene for the ledger."""
    return {name: {"field": field.field, "values": dict(field.values)} for name, field in scene.items()}


def from_json(value: object) -> Scene:
    """Parse the ledger's value; leave out fields that are invalid."""
    found: dict[str, Field] = {}
    for name, entry in _mapping(value).items():
        fields = _mapping(entry)
        values = {key: _value(part) for key, part in _mapping(fields.get("values")).items()}
        try:
            check_id(name)
            found[name] = checked_field(str(fields.get("field")), values)
        except InvalidInput:
            continue
    return _scene(dict(list(found.items())[:MOST_FIELDS]))


def _scene(fields: dict[str, Field]) -> Scene:
    return MappingProxyType(fields) if fields else NO_SCENE


def _value(part: object) -> object:
    return tuple(cast("list[object]", part)) if isinstance(part, (list, tuple)) else part


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
