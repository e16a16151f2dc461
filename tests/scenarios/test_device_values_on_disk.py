"""Device-wide values are on the disk before the answer; a failed write is reported in the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support.service.process import RunningService

CHANGES: Final = (
    ("handedness", {"handedness": "left"}),
    ("torque_scaling", {"enabled": False}),
    ("gravity_compensation", {"enabled": True, "scaling_factor": 0.5}),
    ("home_return", {"enabled": True}),
)


def test_answered_device_value_survives_immediate_sigkill(tmp_path: Path) -> None:
    with RunningService(simulate="arm", state_dir=tmp_path) as service:
        for area, value in CHANGES:
            path = f"/arm/0/config/{area}"
            assert service.request("POST", path, value) == (200, value)
            service.kill()
            service.start()
            assert service.request("GET", path) == (200, value)


@pytest.mark.parametrize(("area", "value"), CHANGES)
def test_failed_write_is_reported_and_the_value_applies(tmp_path: Path, area: str, value: dict[str, object]) -> None:
    folder, away = tmp_path / "state", tmp_path / "away"
    folder.mkdir()
    path = f"/arm/0/config/{area}"
    with RunningService(simulate="arm", state_dir=folder) as service:
        folder.rename(away)
        try:
            status, answer = service.request("POST", path, value)
            held = service.request("GET", path)
        finally:
            away.rename(folder)

    assert status == 507
    assert answer["error"].startswith("That holds, but a restart would forget it.")
    assert held == (200, value)
