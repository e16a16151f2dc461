"""The container file: two stages, a user that is not root, a health check on /readyz, and options that the command line has."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from transport.command_line import _parser
from transport.settings_catalog import SETTINGS_CATALOG

ROOT = Path(__file__).parents[3]
FILE = ROOT / "ops" / "container" / "Containerfile"
INSTRUCTIONS = {
    *("FROM", "RUN", "CMD", "LABEL", "EXPOSE", "ENV", "ADD", "COPY", "ENTRYPOINT", "VOLUME", "USER", "WORKDIR", "ARG"),
    *("STOPSIGNAL", "HEALTHCHECK", "SHELL"),
}
ENGINES = [name for name in ("podman", "buildah", "docker") if shutil.which(name) is not None]


def instructions() -> list[tuple[str, str]]:
    """Instruction and its argument, of each logical line."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    rows = (line.strip().partition(" ") for line in text.splitlines() if line.strip())
    return [(word, rest.strip()) for word, _, rest in rows]


def last(word: str) -> str:
    """The argument of an instruction in the last stage."""
    rows = instructions()
    begin = max(index for index, (name, _) in enumerate(rows) if name == "FROM")
    (found,) = [rest for name, rest in rows[begin:] if name == word]
    return found


def test_every_line_is_an_instruction() -> None:
    assert {word for word, _ in instructions()} <= INSTRUCTIONS


def test_shell_of_every_step_is_valid() -> None:
    for word, rest in instructions():
        if word == "RUN":
            subprocess.run(["sh", "-n", "-c", rest], check=True)


def test_stages_are_built_from_the_same_image_with_a_fixed_version() -> None:
    images = [rest.split()[0] for word, rest in instructions() if word == "FROM"]

    assert len(images) == 2
    assert len(set(images)) == 1
    assert re.fullmatch(r"docker\.io/library/python:3\.1[123]-slim-\w+", images[0])


def test_service_is_not_root_and_owns_its_state_only() -> None:
    assert last("USER") == "hapticd"
    assert last("VOLUME") == "/var/lib/hapticd"
    assert "--chown" not in last("COPY")
    assert last("COPY").split() == ["--from=build", "/opt/hapticd", "/opt/hapticd"]


def test_health_check_asks_readyz_at_the_exposed_port() -> None:
    check = last("HEALTHCHECK")
    program = json.loads(check[check.index("CMD ") + 4 :])
    port = SETTINGS_CATALOG.find("communication/websocket/port").default

    assert program[0].startswith("/opt/hapticd/bin/")
    assert f"http://127.0.0.1:{port}/readyz" in program[2]
    assert str(port) in last("EXPOSE").split()


def test_command_has_options_and_settings_that_exist() -> None:
    parser, _ = _parser()
    words = json.loads(last("CMD"))

    options, unknown = parser.parse_known_args(words)

    assert unknown == []
    assert options.state_dir == last("VOLUME")
    assert options.log_format == "json"
    assert all(SETTINGS_CATALOG.find(one.partition("=")[0]) for one in options.set)
    assert json.loads(last("ENTRYPOINT")) == ["/opt/hapticd/bin/hapticd"]


def test_what_was_built_here_is_not_copied_into_the_image() -> None:
    ignored = FILE.with_name("Containerfile.dockerignore").read_text(encoding="utf-8").split()

    assert {".venv*", "build", "**/*.so", "fastpath/**/*.c"} <= set(ignored)


@pytest.mark.soak
@pytest.mark.skipif(not ENGINES, reason="no podman, buildah or docker is installed")
def test_image_is_built(tmp_path: Path) -> None:
    engine = ENGINES[0]
    image = next(rest.split()[0] for word, rest in instructions() if word == "FROM")
    if subprocess.run([engine, "pull", image], capture_output=True, check=False, timeout=120).returncode:
        pytest.skip(f"{image} cannot be had here")
    command = [engine, "build", "--iidfile", str(tmp_path / "id"), "-f", str(FILE), str(ROOT)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, shlex.join(command) + done.stdout + done.stderr
    version = [engine, "run", "--rm", (tmp_path / "id").read_text(encoding="ascii").strip(), "--version"]
    assert subprocess.run(version, capture_output=True, text=True, check=True).stdout.startswith("hapticd ")
