"""Gymnasium's own checker and LeRobot's own teleoperate program with the plugins; `make test-robots` has both packages."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hapticd_client import testing

pytest.importorskip("gymnasium.utils.env_checker", reason="make test-robots installs Gymnasium")


def test_checker_of_gymnasium_finds_nothing(recwarn: pytest.WarningsRecorder) -> None:
    gymnasium: Any = import_module("gymnasium")
    checker: Any = import_module("gymnasium.utils.env_checker")

    import hapticd_gym

    hapticd_gym.register()
    env = gymnasium.make("hapticd/Feel-v0", seconds=0.2)
    try:
        checker.check_env(env.unwrapped, skip_render_check=True)
    finally:
        env.close()
    assert [str(one.message) for one in recwarn if "gymnasium" in one.filename] == []


def test_lerobot_finds_the_plugin_and_its_loop_leads_a_robot(tmp_path: Path) -> None:
    pytest.importorskip("lerobot.teleoperators", reason="make test-robots installs LeRobot")
    robot = tmp_path / "lerobot_robot_recorder"
    robot.mkdir()
    (robot / "__init__.py").write_text((Path(__file__).with_name("recorder.py")).read_text("utf-8"), "utf-8")
    for name in ("lerobot_robot_recorder", "lerobot_teleoperator_hapticd"):
        about = tmp_path / f"{name}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", "utf-8")
    said = tmp_path / "actions.txt"
    with testing.service(simulate="arm,grip") as service:
        command = [
            *(sys.executable, "-m", "lerobot.scripts.lerobot_teleoperate"),
            *("--teleop.type=hapticd", f"--teleop.url={service.url}", "--teleop.clutch=", "--fps=60"),
            *("--robot.type=recorder", f"--robot.path={said}", "--teleop_time_s=2"),
        ]
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=300
        )
    assert done.returncode == 0, done.stderr
    heights = [float(line) for line in said.read_text("utf-8").split()]
    assert len(heights) > 60
    assert max(heights) - min(heights) > 0.005
