"""What the udev rules of a machine do with serial boards."""

from __future__ import annotations

from pathlib import Path

import pytest

from transport.link.udev_rules import brltty_cure, brltty_takes, keep_rule, kept_from_modem_manager, rule_files, taker

ROOT = Path(__file__).parents[4]
UBUNTU = """# Device: 0403:6001
#ENV{PRODUCT}=="403/6001/*", ENV{BRLTTY_BRAILLE_DRIVER}="at", GOTO="brltty_usb_run"
# Device: 1A86:7523
ENV{PRODUCT}=="1a86/7523/*", ENV{BRLTTY_BRAILLE_DRIVER}="bm", GOTO="brltty_usb_run"
ENV{PRODUCT}=="10c4/ea60/*", ATTRS{manufacturer}=="Silicon Labs", GOTO="brltty_usb_run"
ENV{PRODUCT}=="c251/1131/*", GOTO="brltty_usb_run"
"""
DEBIAN = 'ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", RUN+="brltty"\n'


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    found = (tmp_path / "etc", tmp_path / "usr")
    for folder in found:
        folder.mkdir()
    return found


def names(folders: tuple[Path, Path]) -> list[str]:
    return [str(folder) for folder in folders]


def test_vendors_of_lines_in_force_are_taken(folders: tuple[Path, Path]) -> None:
    rules = folders[1] / "85-brltty.rules"
    rules.write_text(UBUNTU)

    assert brltty_takes(names(folders)) == (rules, frozenset({0x1A86, 0x10C4}))
    assert taker(0x0403, names(folders)) == ""
    assert taker(None, names(folders)) == ""
    assert taker(0x1A86, names(folders)).startswith(f"brltty takes it for a braille display ({rules}): ")
    assert "ln -sf /dev/null /etc/udev/rules.d/85-brltty.rules" in taker(0x1A86, names(folders))


def test_rules_by_attribute_are_read_too(folders: tuple[Path, Path]) -> None:
    rules = folders[1] / "90-brltty-usb.rules"
    rules.write_text(DEBIAN)

    assert brltty_takes(names(folders)) == (rules, frozenset({0x0403}))


def test_cure_hides_the_rules(folders: tuple[Path, Path]) -> None:
    rules = folders[1] / "85-brltty.rules"
    rules.write_text(UBUNTU)
    command, _, _ = brltty_cure(rules).partition(" && ")
    assert command.startswith("ln -sf /dev/null /etc/udev/rules.d/")

    (folders[0] / rules.name).symlink_to("/dev/null")

    assert rule_files("brltty", names(folders)) == [folders[0] / rules.name]
    assert brltty_takes(names(folders)) is None


@pytest.mark.parametrize("text", ["", "# nothing", "\xff\xfe", 'ENV{PRODUCT}=="16c0/483/*"'])
def test_other_rules_take_nothing(folders: tuple[Path, Path], text: str) -> None:
    (folders[0] / "85-brltty.rules").write_text(text, encoding="latin-1")

    assert brltty_takes(names(folders)) is None


def test_missing_folders_have_no_rules() -> None:
    assert rule_files("brltty", ["/nowhere"]) == []
    assert brltty_takes(["/nowhere"]) is None
    assert kept_from_modem_manager(["/nowhere"]) == frozenset()


def test_rule_that_is_printed_for_a_vendor_keeps_it_from_modem_manager(folders: tuple[Path, Path]) -> None:
    shipped = ROOT / "ops/udev/70-hapticd.rules"
    (folders[0] / shipped.name).write_bytes(shipped.read_bytes())
    assert 0x1A86 not in kept_from_modem_manager(names(folders))

    (folders[0] / "71-hapticd-vendors.rules").write_text(f"{keep_rule([0x1A86, 0x0403])}\n")

    assert kept_from_modem_manager(names(folders)) == {0x1A86, 0x0403}
