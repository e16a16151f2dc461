"""The settings catalogue is consistent: distinct keys and environment variables, complete rows."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from actors.kit.errors import InvalidInput
from actors.settings.key_lookup import KINDS, Catalog, variable
from actors.settings.messages import FAMILY
from actors.settings.schema import Setting, TypeHint
from transport.settings_catalog import SETTINGS_CATALOG


def test_no_key_is_a_prefix_of_another() -> None:
    forms = [
        setting.key.replace(FAMILY, f"devices/{who}/", 1)
        for setting in SETTINGS_CATALOG
        for who in ("haptic*", *KINDS, "049D")
    ]

    assert [pair for pair in permutations(set(forms), 2) if pair[0].startswith(pair[1])] == []


def test_no_two_keys_share_a_variable_of_the_environment() -> None:
    assert [pair for pair in combinations(SETTINGS_CATALOG, 2) if variable(pair[0].key) == variable(pair[1].key)] == []


@pytest.mark.parametrize("setting", list(SETTINGS_CATALOG), ids=lambda setting: setting.key)
def test_row_is_complete(setting: Setting) -> None:
    numeric = setting.type_hint in (TypeHint.INT, TypeHint.FLOAT)

    assert setting.description.endswith(".")
    assert (setting.constraint.least is not None) == (numeric or setting.key == "control/cpu")
    assert setting.unit is None or numeric


@pytest.mark.parametrize("key", ["serialization/explicit_fields", "serialization/force_complete_transforms"])
def test_output_completing_settings_are_advanced(key: str) -> None:
    assert SETTINGS_CATALOG.find(key).advanced


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("communication/bind_address", "localhost", "example.org"),
        ("communication/bind_address", "192.0.2.7", "192.0.2.700"),
        ("communication/bind_address", "::1", "[::1]"),
        ("communication/allowed_origins", ["https://example.org", "http://[::1]:8080"], ["example.org"]),
        ("communication/allowed_origins", ["app://desk"], ["null"]),
        ("communication/allowed_origins", [], ["https://example.org/page"]),
        ("communication/allowed_hosts", ["lab-pc.local", "::1", "[::1]", "192.0.2.7"], ["lab-pc:10001"]),
        ("communication/allowed_hosts", [], ["http://lab-pc"]),
        ("communication/http/port", None, "none"),
        ("communication/http/port", 0, 65536),
        ("devices/detection/advanced/allowed_vendor_id_filter", ["16D0", "0403"], ["0x16D0"]),
        ("devices/hapi/ports", ["ttyACM0=2diy-plastic", "/dev/pts/3=pantograph"], ["ttyACM0"]),
        ("devices/hapi/ports", ["COM3=2diy-metal"], ["ttyACM0=2diy"]),
        ("devices/simulated", ["arm", "compact", "grip", "grip:wired", "grip:wireless", "pen"], ["robot"]),
        ("devices/simulated", ["arm"] * 16, ["arm"] * 17),
        ("devices/simulated", None, ["arm:wired"]),
        ("control/cpu", 3, "3"),
        ("control/cpu", "none", -1),
    ],
)
def test_special_key_accepts_good_and_refuses_bad_values(key: str, good: object, bad: object) -> None:
    SETTINGS_CATALOG.find(key).parse(good)
    with pytest.raises(InvalidInput, match=key.replace("*", r"\*")):
        SETTINGS_CATALOG.find(key).parse(bad)


def test_duplicate_key_is_refused() -> None:
    with pytest.raises(ValueError, match="same key"):
        Catalog([*SETTINGS_CATALOG, *SETTINGS_CATALOG])
