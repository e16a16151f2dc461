"""Names that people give to devices, such as "left arm": which are accepted, and which are free. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from actors.kit.errors import Conflict, InvalidInput
from actors.values.kinds.registry import specs
from actors.values.selector import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST_DEVICE_NAME: Final = 32
# Characters that have a meaning in a path, a selector or a shell's pattern.
RESERVED: Final = frozenset('*?/\\#%"')
_INDEX: Final = re.compile(r"[0-9]+")
_TYPES: Final = frozenset(
    word.casefold()
    for spec in specs()
    for word in (spec.name, spec.inverse.type, spec.inverse.wireless, *spec.inverse.aliases)
    if word
)


def why_refused(name: str) -> str:
    """Return what is wrong with the text as a name, "" if nothing is."""
    if not name or len(name) > LONGEST_DEVICE_NAME:
        return f"a name has 1 to {LONGEST_DEVICE_NAME} characters"
    if not name.isprintable() or RESERVED & set(name):
        return f"a name has no {' '.join(sorted(RESERVED))} and nothing that cannot be printed"
    if name != " ".join(name.split()):
        return "a name has no space in front, behind or twice in a row"
    if _INDEX.fullmatch(name):
        return "a number is an index: add a letter"
    if name.casefold() in _TYPES:
        return f'"{name}" means every device of that type: add a word'
    return ""


def check_name(name: str, device_id: str, ids: Iterable[str], names: Mapping[str, str]) -> None:
    """Check a name for a device; InvalidInput, or Conflict if it is one of `ids` or, by device id, of `names` of another device."""
    refusal = why_refused(name)
    if refusal:
        raise InvalidInput(refusal, "name")
    wanted = folded(name)
    if any(folded(other) == wanted for other in ids if other != device_id):
        raise Conflict(f'"{name}" is the id of another device: choose another name.')
    for other, taken in names.items():
        if other != device_id and folded(taken) == wanted:
            raise Conflict(f'Device {other} has the name "{taken}": choose another, or take it from that device first.')
