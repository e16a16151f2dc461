"""`/settings`: reads come from the published view, writes go to the settings store and are on the disk when they are answered."""

from __future__ import annotations

from typing import cast

from actors.kit.errors import InvalidInput
from actors.settings.messages import STORE, ResetSetting, SetSetting, SetSettings, SettingView, value_as_json
from fastpath.wire import encode_json
from transport.http.call import Answer, Call
from transport.security import audit
from transport.wire.vocabulary import setting_key

LONGEST_SHOWN = 200


async def read_settings(call: Call) -> Answer:
    """The record of a key, or a map of the records under a prefix; nothing under it: NoSuchSetting."""
    view = call.bridge.settings
    key = setting_key(call.words.get("key", ""))
    # No setting is deprecated yet; the field is checked all the same.
    call.flag("deprecated")
    advanced = call.flag("advanced")
    if key and (key in view.records or not view.listed(key, advanced=True)):
        return Answer(view.record(key).as_json())
    return Answer({record.key: record.as_json() for record in view.listed(key, advanced=advanced)})


async def write_setting(call: Call) -> Answer:
    """The body is the value, or `{"value": v}`; the answer is the record."""
    key = setting_key(call.words["key"])
    record = await call.bridge.ask(STORE, SetSetting(key, _value(call, call.value(), "")))
    _audit(call, record)
    return Answer(record.as_json())


async def write_settings(call: Call) -> Answer:
    """The body maps keys to values; all are stored or none. The answer maps them to records."""
    body = call.value()
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object that maps keys to values.")
    values: dict[str, object] = {}
    for name, raw in cast("dict[str, object]", body).items():
        key = setting_key(name)
        if key in values:
            raise InvalidInput("name each setting once: two of the keys mean this one.", key)
        values[key] = _value(call, raw, f"{name}.")
    records = await call.bridge.ask(STORE, SetSettings(values))
    for record in records:
        _audit(call, record)
    return Answer({record.key: record.as_json() for record in records})


async def reset_setting(call: Call) -> Answer:
    """Forget the stored value; the answer is the record."""
    record = await call.bridge.ask(STORE, ResetSetting(setting_key(call.words["key"])))
    _audit(call, record)
    return Answer(record.as_json())


def _value(call: Call, raw: object, where: str) -> object:
    if not isinstance(raw, dict):
        return raw
    found = cast("dict[str, object]", raw)
    if "value" not in found:
        return found
    call.note_unknown([where + key for key in found], [f"{where}value"])
    return found["value"]


def _audit(call: Call, record: SettingView) -> None:
    text = encode_json(value_as_json(record.value)).decode()
    audit(call.peer, "-", f"setting {record.key} = {text[:LONGEST_SHOWN]}")
