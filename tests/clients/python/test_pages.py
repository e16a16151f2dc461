"""The programs of docs/clients.md and of the tutorials, run as written beside a real service."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.python.programs import Program, arm_force, until_no_session, until_zero
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService

DOCS = Path(__file__).parents[3] / "docs"
LINES = "service.loop(rate=1000)"


def programs(page: str) -> list[str]:
    found: list[str] = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return found


TEN_LINES = programs("clients.md")[0]


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


def run(service: RunningService, text: str, folder: Path) -> str:
    """Run a program; what it printed."""
    script = folder / "program.py"
    script.write_text(text, encoding="utf-8")
    with Program(service, "socket", path=script) as program:
        code, out, errors = program.ended()
    assert code == 0, errors
    return out


def test_first_program_is_seven_lines_and_the_readme_of_the_package_has_the_same() -> None:
    lines = [line for line in TEN_LINES.splitlines() if line.strip()]

    assert len(lines) == 7
    assert TEN_LINES in (DOCS.parent / "clients" / "python" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("transport", ["socket", "local"])
def test_ten_lines_as_written_push_until_ctrl_c(service: RunningService, transport: str, tmp_path: Path) -> None:
    script = tmp_path / "ten_lines.py"
    script.write_text(TEN_LINES, encoding="utf-8")
    with Program(service, transport, path=script) as program:
        eventually(lambda: arm_force(service) > 0, "it pushes", pause_s=0.005)
        program.signal(signal.SIGINT)
        code, _, errors = program.ended()

    assert code == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize("text", programs("clients.md"), ids=lambda text: str(text.count("\n")))
def test_program_of_the_page_runs(service: RunningService, text: str, tmp_path: Path) -> None:
    assert run(service, text.replace(LINES, f"{LINES[:-1]}, seconds=0.2)"), tmp_path)
    until_no_session(service)


def test_program_of_the_page_of_scenes_makes_a_floor_at_20_hz(tmp_path: Path) -> None:
    (text,) = programs("scenes.md")
    shown = text.replace("rate=20", "rate=20, seconds=0.5") + "    print(arm.state.raw['scene'], [*arm.scene])\n"
    with RunningService(settings={"features/scene/enabled": True}) as service:
        out = run(service, shown, tmp_path)

    assert "'touched': [" in out
    assert "['floor', 'lane']" in out


@pytest.mark.parametrize("number", range(3))
def test_program_of_the_tutorial_runs_as_written(service: RunningService, number: int, tmp_path: Path) -> None:
    out = run(service, programs("tutorials/first-wall.md")[number], tmp_path)

    if number == 0:
        assert out.count(" m\n") >= 1
    elif number == 1:
        (hardest,) = re.findall(r"hardest push ([\d.]+) N", out)
        assert float(hardest) > 0
    else:
        assert "of 1000 turns/s" in out
    until_no_session(service)


def test_wheel_of_the_client_is_pure_and_small(tmp_path: Path) -> None:
    """Built with what this environment has: no package is fetched."""
    source = shutil.copytree(DOCS.parent / "clients" / "python", tmp_path / "source")
    wheel = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps"]
    command = [*wheel, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5 * TIMEOUT_S, check=False)

    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.glob("hapticd_client-*-py3-none-any.whl")
    assert built.stat().st_size < 200_000
