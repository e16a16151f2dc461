"""Routes of `/settings`: reads come from the published view; writes go to SettingsStore and are on the disk when answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from actors.kit.errors import InvalidInput
from actors.settings.api import (
    DEVICE_KEY,
    STORE,
    ResetSetting,
    SetSetting,
    SetSettings,
    SettingView,
    TypeHint,
    value_as_json,
)
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.json_schema import either
from transport.http.schema.route_schema import YES_OR_NO, Query, RouteSchema
from transport.http.schema.settings import KEY, KEY_OR_PREFIX, ONE_VALUE, RECORD, RECORDS, VALUES
from transport.security import audit
from transport.settings_catalog import SETTINGS_CATALOG
from transport.wire.vocabulary import setting_key

LONGEST_SHOWN: Final = 200
LONGEST_KEY: Final = 40

PLACE: Final = "/settings/control/frequency"
LISTING: Final = (
    Query("advanced", YES_OR_NO, "List advanced settings as well."),
    Query("deprecated", YES_OR_NO, "List deprecated settings as well."),
)
ALL: Final = RouteSchema(RECORDS, query=LISTING)
MANY: Final = RouteSchema(
    RECORDS, VALUES, fails=(404, 507), example={"control/frequency": 8000, "sessions/command_timeout": 0.1}
)
ONE_OR_UNDER: Final = RouteSchema(either(RECORD, RECORDS), query=LISTING, path={"key": KEY_OR_PREFIX}, place=PLACE)
ONE: Final = RouteSchema(RECORD, ONE_VALUE, path={"key": KEY}, fails=(507,), example=8000, place=PLACE)
RESET: Final = RouteSchema(RECORD, path={"key": KEY}, fails=(507,), place=PLACE)


def routes() -> Iterator[Route]:
    """Yield the routes of all settings and of one; answers are in the envelope unless plain is requested."""
    many, one = "/settings", "/settings/{key...}"
    all_under = "One setting, or all under it."
    yield Route("GET", many, read_settings, "All settings.", enveloped=True, schema=ALL)
    yield Route("POST", many, write_settings, "Set many, all or none.", enveloped=True, reads_body=True, schema=MANY)
    yield Route("GET", one, read_settings, all_under, enveloped=True, schema=ONE_OR_UNDER)
    yield Route("POST", one, write_setting, "Set one.", enveloped=True, reads_body=True, schema=ONE)
    yield Route("DELETE", one, reset_setting, "Back to the default.", enveloped=True, schema=RESET)


async def read_settings(call: Call) -> Answer:
    """Return the record of a key, or a map of the records under a prefix; NoSuchSetting without any."""
    view = call.bridge.settings
    key = setting_key(call.words.get("key", ""))
    # No setting is deprecated yet; the field is validated all the same.
    call.flag("deprecated")
    advanced = call.flag("advanced")
    if key and (key in view.records or not view.listed(key, advanced=True)):
        return Answer(_as_seen(call, view.record(key)).as_json())
    return Answer({record.key: record.as_json() for record in view.listed(key, advanced=advanced)})


async def write_setting(call: Call) -> Answer:
    """Store the body, or `{"value": v}`. Return the record."""
    key = setting_key(call.words["key"])
    record = await call.bridge.ask(STORE, SetSetting(key, _value(call, key, call.value(), "")))
    _audit(call, record)
    return Answer(record.as_json())


async def write_settings(call: Call) -> Answer:
    """Store a map of keys to values, all or none. Return a map of records."""
    body = call.value()
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object that maps keys to values.")
    if not body:
        raise InvalidInput("Name at least one setting.")
    values: dict[str, object] = {}
    for name, raw in cast("dict[str, object]", body).items():
        key = setting_key(name)
        if key in values:
            raise InvalidInput("name each setting once: two of the keys mean this one.", key)
        values[key] = _value(call, key, raw, f"{name}.")
    records = await call.bridge.ask(STORE, SetSettings(values))
    for record in records:
        _audit(call, record)
    return Answer({record.key: record.as_json() for record in records})


async def reset_setting(call: Call) -> Answer:
    """Remove the stored value. Return the record."""
    record = _as_seen(call, await call.bridge.ask(STORE, ResetSetting(setting_key(call.words["key"]))))
    _audit(call, record)
    return Answer(record.as_json())


def _value(call: Call, key: str, raw: object, where: str) -> object:
    """Return the value for `key`, sent bare or as `{"value": v}`; InvalidInput for an object without `value`, UnknownSetting."""
    if not isinstance(raw, dict):
        return raw
    found = cast("dict[str, object]", raw)
    if "value" in found:
        call.note_unknown([where + name for name in found], [f"{where}value"])
        return found["value"]
    row = SETTINGS_CATALOG.find(key)
    if not found or row.type_hint is TypeHint.VEC3:
        return found
    first = next(iter(found))[:LONGEST_KEY]
    raise InvalidInput(f'the key "{first}" is unknown: give {row.wanted()}, as it is or as {{"value": …}}.', key)


def _as_seen(call: Call, record: SettingView) -> SettingView:
    """Return the record; for a device without its own value, that of its kind, else that of `haptic*`."""
    form, view = DEVICE_KEY.fullmatch(record.key), call.bridge.settings
    device = call.bridge.inventory.find(form[1]) if form and record.key not in view.records else None
    if form is None or device is None:
        return record
    value = view.device(device.device_id, device.kind, form[2])
    return replace(record, value=value, effective=value)


def _audit(call: Call, record: SettingView) -> None:
    text = encode_json(value_as_json(record.value)).decode()
    audit(call.peer, "-", f"setting {record.key} = {text[:LONGEST_SHOWN]}")
