"""Errors for users: one sentence that says what to change."""

from __future__ import annotations

import pytest

from actors.kit import errors
from actors.kit.errors import HapticError

SAMPLES: list[HapticError] = [
    errors.Busy(),
    errors.NoSuchActor("session/7"),
    errors.InvalidInput("scale must be greater than 0, send a positive number", "arm[0].scale"),
    errors.NoSuchDevice("049D"),
    errors.NoSuchSession("#7"),
    errors.NoSuchSetting("control/frequenzy"),
    errors.NoSuchPort("ttyACM7"),
    errors.NoSlot("session", 64),
    errors.FirmwareTooOld("damping", "7.4", "7.5"),
    errors.UnsupportedArea("a grip", "mount"),
    errors.CalibrationLocked("049D"),
    errors.PortBlocked("ttyACM0"),
    errors.Conflict("another pair holds: unpair it first"),
    errors.StateNotWritable("/var/lib/hapticd", "No space left on device"),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_is_one_sentence_that_says_what_to_change(error: HapticError) -> None:
    text = str(error)
    assert text == error.sentence
    assert "\n" not in text
    assert any(separator in text for separator in (":", ","))


def test_every_error_class_has_a_sample() -> None:
    known = {cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, HapticError)}
    assert known - {HapticError, errors.NotFound} == {type(error) for error in SAMPLES}


def test_an_input_error_names_the_place_in_front_of_the_reason() -> None:
    error = errors.InvalidInput("send a number", "arm[0].x")
    assert (str(error), error.path, error.reason) == ("arm[0].x: send a number", "arm[0].x", "send a number")
    assert str(errors.InvalidInput("send an object")) == "send an object"


def test_not_found_errors_share_one_class() -> None:
    for cls in (errors.NoSuchDevice, errors.NoSuchSession, errors.NoSuchSetting, errors.NoSuchPort):
        assert issubclass(cls, errors.NotFound)
        assert cls("x").wanted == "x"


def test_error_attributes_are_readable() -> None:
    error = errors.FirmwareTooOld("damping", "7.4", "7.5")
    assert (error.feature, error.firmware, error.required) == ("damping", "7.4", "7.5")
