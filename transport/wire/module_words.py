"""Parse the JSON keys of modules in a message; refuse keys of modules that are off."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from actors.kit.errors import InvalidInput
from actors.modules.module import ModuleInput, Place
from actors.values.spatial import PartialTransform, WorkspaceChange
from transport.wire.parsed_message import ModuleChange, NamedDevice, ParsedMessage

if TYPE_CHECKING:
    from actors.modules.module import Module
    from actors.modules.registry import Active
    from actors.values.identity import Kind
    from transport.wire.shapes import NameUnknown

logger = logging.getLogger(__name__)


def take_up(parsed: ParsedMessage, place: Place, word: str, value: Any, path: str, target: NamedDevice | None) -> bool:
    """Let the module of a word parse its value; False when no module has the word. InvalidInput, also when the module is off."""
    module = parsed.modules.find(place, word, path)
    if module is None:
        return False
    device_id, kind = (None, None) if target is None else (target.device_id, target.kind)
    taken = _read(module, ModuleInput(place, word, value, path, kind, parsed.fault))
    if parsed.module_changes is None:
        parsed.module_changes = []
    parsed.module_changes.append(ModuleChange(module.name, place, word, taken, device_id, path))
    return True


def transform_words(active: Active, fields: Mapping[str, Any], path: str) -> dict[str, Module]:
    """Return the words of modules beside a transform, each with its module; InvalidInput when that module is off."""
    parsed = {word: active.find(Place.TRANSFORM, word, f"{path}.{word[:40]}") for word in fields}
    return {word: module for word, module in parsed.items() if module is not None}


def changed(
    words: Mapping[str, Module],
    fields: Mapping[str, Any],
    path: str,
    kind: Kind,
    change: PartialTransform,
    note: NameUnknown,
) -> WorkspaceChange:
    """Return the workspace change of a transform and the modules' words beside it; InvalidInput."""
    whole: WorkspaceChange = change
    for word, module in words.items():
        sent = ModuleInput(Place.TRANSFORM, word, fields[word], f"{path}.{word}", kind, note, change)
        whole = cast("WorkspaceChange", _read(module, sent))
    return whole


def _read(module: Module, sent: ModuleInput) -> object:
    """Return the value as parsed by the module; InvalidInput when it refuses, and when it fails."""
    try:
        return module.read(sent)
    except InvalidInput:
        raise
    except Exception:
        logger.exception("module %s failed to read %s.%s", module.name, sent.place, sent.word)
        raise InvalidInput(f"module {module.name} failed: look at the log", sent.path) from None
