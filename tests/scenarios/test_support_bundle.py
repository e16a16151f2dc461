"""A support bundle of a real service: none of its files has a secret that was planted where the service keeps or writes it."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from tests.support.service.process import RunningService
from transport.bundle_archive import CONTENTS, README
from transport.cli.exit_codes import ExitCode

PLANTED = ("planted-in-a-header", "planted-in-an-address", "planted-in-a-query", "planted-as-a-password")
TEXTS = [
    f"Authorization: Bearer {PLANTED[0]}",
    f"https://user:{PLANTED[1]}@camera.example/",
    f"/?token={PLANTED[2]}",
    f"password={PLANTED[3]}",
]


def unpacked(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name).decode() for name in zipped.namelist()}


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(settings={"misc/log_level": "debug"}, environment={"SOME_TOKEN": PLANTED[0]}) as running:
        yield running


def plant(service: RunningService) -> str:
    """Leave secrets in settings, the audit log, names of sessions and events; return the service's token."""
    token = (service.state_dir / "token").read_text("ascii").strip()
    for text in [*TEXTS, f"a{token}b"]:
        assert service.request("POST", "/settings/presets/freeform_profiles", [text])[0] == 200
    assert service.request("POST", "/settings/presets/freeform_profiles", [*TEXTS, f"a{token}b"])[0] == 200
    with connect(f"{service.ws}/?token={token}", additional_headers={"Authorization": f"Bearer {token}"}) as session:
        session.recv()
        for text in [*TEXTS, token]:
            session.send(json.dumps({"session": {"configure": {"profile": {"name": text}}}, text: text}))
            session.recv()
        with urllib.request.urlopen(f"{service.http}/log?limit=2000", timeout=60) as reply:
            log = reply.read().decode()
    assert all(secret not in log for secret in (*PLANTED, token))
    assert "hapticd.audit" in log
    return token


def test_no_file_of_the_bundle_has_a_planted_secret(service: RunningService) -> None:
    token = plant(service)
    with urllib.request.urlopen(f"{service.http}/support-bundle", timeout=60) as reply:
        found = unpacked(reply.read())

    assert list(found) == [README, *CONTENTS]
    assert [(name, one) for name, text in found.items() for one in (*PLANTED, token) if one in text] == []
    assert "[hidden]" in found["log.jsonl"]
    assert "[hidden]" in found["settings.json"]
    assert "is ready." in found["doctor.txt"]
    assert json.loads(found["devices.json"])["arm"]
    kinds = [json.loads(line)["name"] for line in found["events.jsonl"].splitlines()]
    assert "device-connected" in kinds


def test_command_saves_the_bundle_of_the_service(service: RunningService, tmp_path: Path) -> None:
    path = tmp_path / "found.zip"
    done = bundle("--url", service.http, "-o", str(path), folder=tmp_path)

    assert done.returncode == ExitCode.OK, done.stderr
    assert str(path) in done.stdout
    assert list(unpacked(path.read_bytes())) == [README, *CONTENTS]
    assert path.stat().st_mode & 0o777 == 0o600


def test_command_without_a_service_saves_what_can_be_had_and_says_so(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "token").write_text("token-of-the-state-directory", "ascii")
    (state / "settings.json").write_text(json.dumps({"a": TEXTS, "b": "token-of-the-state-directory"}), "utf-8")
    done = bundle("--url", "http://127.0.0.1:1", "--state-dir", str(state), "--json", folder=tmp_path)

    assert done.returncode == ExitCode.NO_SERVICE, done.stderr
    told = json.loads(done.stdout)
    assert told["service"] is False
    assert told["error"].startswith("No service answers at http://127.0.0.1:1")
    found = unpacked((tmp_path / told["path"]).read_bytes())
    assert list(found) == [README, "settings.json", "doctor.txt", "versions.json", "problems.json"]
    planted = (*PLANTED, "token-of-the-state-directory")
    assert [name for name, text in found.items() for one in planted if one in text] == []
    assert str(state) in found["doctor.txt"]


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\udc80"])
def test_command_without_a_service_takes_any_file_of_settings(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content, "utf-8", "surrogateescape")
    done = bundle("--url", "http://127.0.0.1:1", "--state-dir", str(tmp_path), "-o", "b.zip", folder=tmp_path)

    assert done.returncode == ExitCode.NO_SERVICE, done.stderr
    assert "error" in json.loads(unpacked((tmp_path / "b.zip").read_bytes())["settings.json"])


def test_command_that_cannot_write_says_so(service: RunningService, tmp_path: Path) -> None:
    done = bundle("--url", service.http, "-o", str(tmp_path / "no" / "b.zip"), folder=tmp_path)

    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith(f"hapticd: {tmp_path}/no/b.zip cannot be written")


def test_command_makes_no_bundle_of_this_machine_for_another_one(tmp_path: Path) -> None:
    done = bundle("--url", "http://nobody.invalid:1", folder=tmp_path)

    assert done.returncode == ExitCode.NO_SERVICE
    assert list(tmp_path.iterdir()) == []


def test_end_of_the_service_does_not_wait_for_a_bundle() -> None:
    with RunningService() as service:
        at = urlsplit(service.http)
        with socket.create_connection((at.hostname or "", at.port or 0), timeout=60) as asking:
            asking.sendall(b"GET /support-bundle HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert service.request("GET", "/version")[0] == 200

            assert service.stop() == 0


def bundle(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("hapticd"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HAPTICD_")}
    return subprocess.run(
        [program, "bundle", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
