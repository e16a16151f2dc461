"""Settings of the Novint Falcon driver."""

from __future__ import annotations

from typing import Final

from actors.settings.api import Constraint, Setting, TypeHint, real

FIRMWARE_IMAGE: Final = "devices/falcon/firmware_image"
COUNTS_PER_NM: Final = "devices/falcon/counts_per_Nm"

SETTINGS: Final = (
    Setting(
        FIRMWARE_IMAGE,
        TypeHint.STRING,
        None,
        "Path of the firmware that a Novint Falcon is given when it has none; null: none. The file is Novint's, not part of this.",
        constraint=Constraint(nullable=True),
    ),
    real(
        COUNTS_PER_NM,
        10000,
        -100000,
        100000,
        "Motor command of a Novint Falcon for one newton-metre at a crank; below 0 all motors are turned round. Not calibrated.",
        advanced=True,
    ),
)
