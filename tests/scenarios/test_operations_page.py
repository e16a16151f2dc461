"""The shell commands and both TLS recipes of docs/operations.md work with the real programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.wire.doc_page import DOCS

PAGE: Final = (DOCS / "operations.md").read_text(encoding="utf-8")
NAME: Final = "haptics.example"
TIMEOUT_S: Final = 30.0


def block(kind: str) -> str:
    """The only block of its kind that stands behind a fence."""
    (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(text)


# ---------------------------------------------------------------- commands


def test_remote_client_is_admitted_by_the_page_s_settings() -> None:
    opened, asked = re.findall(r"^```\n(.+)\n```$", PAGE, re.MULTILINE)
    program, command, *arguments = opened.split()
    assert (program, command) == ("hapticd", "run")

    with RunningService(*arguments) as service:
        port = service.http.rpartition(":")[2]
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        line = asked.replace("192.0.2.7:10001", f"127.0.0.1:{port}")
        line = line.replace("hapticd token", f"hapticd token --state-dir {service.state_dir}")
        assert line.count(str(service.state_dir)) == line.count(port) == 1
        answer = subprocess.run(
            ["sh", "-c", f"{line} -sf"], env={**os.environ, "PATH": here}, capture_output=True, check=True, timeout=60
        )

    assert json.loads(answer.stdout)["arm"]


# ---------------------------------------------------------------- TLS


@dataclass(frozen=True, slots=True)
class Front:
    """A proxy that has been started from a recipe."""

    port: int
    certificate: Path
    token: str

    def ask(self, path: str, *headers: str, body: str | None = None) -> tuple[int, str]:
        """Status and body of an exchange."""
        sent = [] if body is None else ["-d", "@-"]
        line = [
            "curl",
            "-s",
            "--http1.1",
            "--cacert",
            str(self.certificate),
            "--resolve",
            f"{NAME}:{self.port}:127.0.0.1",
            "-w",
            "\n%{http_code}",
        ]
        words = [*line, *(part for one in headers for part in ("-H", one)), *sent, f"https://{NAME}:{self.port}{path}"]
        done = subprocess.run(words, input=body, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        answer, _, status = done.stdout.rpartition("\n")
        return int(status or 0), answer

    def channel(self, path: str, origin: str | None = None) -> ClientConnection:
        """A WebSocket through the proxy."""
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        # The client reads in a thread of its own: a ticket of TLS 1.3, which comes by itself while the request is written, can
        # lose that request in Python's ssl.
        trusted.maximum_version = ssl.TLSVersion.TLSv1_2
        wire = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        return connect(
            f"wss://{NAME}{path}",
            sock=wire,
            ssl=trusted,
            server_hostname=NAME,
            origin=None if origin is None else Origin(origin),
            proxy=None,
            compression=None,
            open_timeout=TIMEOUT_S,
        )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    (origin,) = re.findall(r"add `(https://\S+)` to `communication/allowed_origins`", PAGE)
    chosen = {"communication/allowed_origins": json.dumps([origin]), "control/frequency": 1000}
    with InProcessService(tmp_path_factory.mktemp("state"), settings=chosen) as running:
        yield running


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def front(
    request: pytest.FixtureRequest, service: InProcessService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    program = shutil.which(request.param, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
    if program is None or shutil.which("openssl") is None or shutil.which("curl") is None:
        pytest.skip(f"{request.param}, openssl or curl is not installed (Debian packages of these names)")
    folder = tmp_path_factory.mktemp(request.param)
    certificate, key = certified(folder)
    front = Front(free_port(), certificate, service.token)
    here = {"TOKEN": service.token, "127.0.0.1:10001": place(service.http), "127.0.0.1:10020": place(service.events)}
    recipe = replaced(block(request.param), here)
    started = {"nginx": as_nginx, "caddy": as_caddy}[request.param](
        program, folder, recipe, front.port, certificate, key
    )
    with running(started, folder):
        eventually(lambda: front.ask("/healthz")[0] == 401, f"{request.param} answers", pause_s=0.02)
        yield front


def as_nginx(program: str, folder: Path, recipe: str, port: int, certificate: Path, key: Path) -> list[str]:
    """The command line of nginx with the recipe inside the rest of its configuration."""
    here = {
        "443 ssl": f"127.0.0.1:{port} ssl",
        "/etc/ssl/haptics.pem": str(certificate),
        "/etc/ssl/haptics.key": str(key),
    }
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    written = folder / "nginx.conf"
    written.write_text(
        f"daemon off; master_process off; pid {folder / 'pid'}; error_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{replaced(recipe, here)}}}\n"
    )
    return [program, "-p", str(folder), "-c", str(written)]


def as_caddy(program: str, folder: Path, recipe: str, port: int, certificate: Path, key: Path) -> list[str]:
    """The command line of Caddy with a certificate of our own, for no authority would give it one here."""
    written = folder / "Caddyfile"
    site = replaced(
        recipe, {f"{NAME} {{": f"https://{NAME}:{port} {{\n    bind 127.0.0.1\n    tls {certificate} {key}"}
    )
    written.write_text(
        f"{{\n    admin off\n    auto_https disable_redirects\n    storage file_system {folder}\n}}\n{site}"
    )
    return [program, "run", "--adapter", "caddyfile", "--config", str(written)]


def replaced(text: str, words: dict[str, str]) -> str:
    """With other words in place of some that must be there."""
    for old, new in words.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def place(url: str) -> str:
    """Host and port."""
    return url.rpartition("/")[2]


def free_port() -> int:
    """A port that nobody has at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate of the recipes' name, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    line = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={NAME}"
    more = ["-addext", f"subjectAltName=DNS:{NAME}", "-out", str(certificate), "-keyout", str(key)]
    subprocess.run([*line.split(), *more], check=True, capture_output=True, timeout=60)
    return certificate, key


@contextmanager
def running(command: list[str], home: Path) -> Generator[None]:
    """A program as long as it is needed; its log when the test failed."""
    with (home / "log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "HOME": str(home)})
        try:
            yield
        except BaseException:
            sys.stdout.write((home / "log").read_text())
            raise
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


def frame_of(channel: ClientConnection) -> Any:
    """The next message."""
    return json.loads(channel.recv(timeout=TIMEOUT_S))


def test_client_without_token_gets_401_from_the_proxy_on_every_port(front: Front) -> None:
    for path in ("/", "/devices", "/events", "/devices?token=wrong", "/stop"):
        assert front.ask(path, "Authorization: Bearer wrong")[0] == 401, path
    for path in ("/", "/events"):
        with pytest.raises(InvalidStatus, match="401"):
            front.channel(path)


def test_client_with_token_reads_and_writes_through_the_proxy(front: Front) -> None:
    bearer = f"Authorization: Bearer {front.token}"

    assert json.loads(front.ask("/devices", bearer)[1])["arm"]
    assert front.ask(f"/devices?token={front.token}")[0] == 200
    assert front.ask("/settings/simulation/seed", bearer, body="7")[0] == 200
    # nginx says so itself; Caddy breaks the request off, and may blame the service.
    assert front.ask("/settings/simulation/seed", bearer, body=f"{8:70000}")[0] in {0, 413, 502}
    assert json.loads(front.ask("/settings/simulation/seed", bearer)[1])["data"]["value"] == 7


def test_the_session_channel_works_through_the_proxy(front: Front) -> None:
    with front.channel(f"/?token={front.token}", origin=f"https://{NAME}") as channel:
        assert frame_of(channel)["arm"][0]["config"]["type"] == "arm"
        channel.send('{"session": {"force_render_full_state": {}}}')
        assert "config" in frame_of(channel)["arm"][0]
    with pytest.raises(InvalidStatus, match="403"):
        front.channel(f"/?token={front.token}", origin="https://evil.example")


def test_the_event_channel_works_through_the_proxy(front: Front) -> None:
    with (
        front.channel(f"/events?token={front.token}&kinds=session-opened") as events,
        front.channel(f"/?token={front.token}") as channel,
    ):
        opened = frame_of(channel)["session_id"]
        assert frame_of(events)["data"]["session_id"] == opened
