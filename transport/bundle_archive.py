"""Archive of a support bundle: files as text or JSON without secrets, each bounded, in one ZIP. Of the service and of `hapticd bundle`.

Every content passes `Redaction` here, the one place that decides what a secret is, so no source of a file has to.
"""

from __future__ import annotations

import io
import json
import os
import platform
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Final, cast

from transport.log_format import Redaction

README: Final = "README.txt"
MEDIA: Final = "application/zip"
# bytes of one file before compression
LONGEST_FILE: Final = 2 * 1024 * 1024
CUT: Final = b"\n(cut here: the file is too long)\n"
LIBRARIES: Final = (
    "click",
    "libusb-package",
    "numpy",
    "orjson",
    "platformdirs",
    "prometheus_client",
    "pykka",
    "pyserial",
    "pyusb",
    "rich",
    "tornado",
)
CPUINFO: Final = Path("/proc/cpuinfo")
PROCESSOR: Final = ("model name", "Model", "Hardware")

CONTENTS: Final[Mapping[str, str]] = {
    "log.jsonl": "the newest lines of the log, one JSON object each",
    "settings.json": "every setting: its value, the value in force, the default, what overrides it",
    "doctor.txt": "what `hapticd doctor` finds on this machine",
    "versions.json": "hapticd, its interface, Python, libraries, kernel, processor",
    "devices.json": "the devices with their state and configuration, as GET /devices",
    "ports.json": "the ports and why one is blocked or unusable, as GET /ports",
    "sessions.json": "how many sessions are open and what each has sent, without names and addresses",
    "problems.json": "why the service is not ready, what is stopped, which ports are blocked, lost force",
    "trips.json": "what tripped on each device, the newest with the motion before it",
    "events.jsonl": "the newest events, one JSON object each",
    "metrics.txt": "the metrics, as GET /metrics",
}
WORDS: Final = """\
Support bundle of hapticd, made {time} UTC{by}.

Tokens, passwords and logins of addresses are replaced by [hidden]. The ids of devices, the paths of ports, the addresses of clients that the log
names and this machine's user names are in it: look through it before you publish it.

"""


def archive(files: Mapping[str, object], redaction: Redaction, by: str = "") -> bytes:
    """Return a ZIP of the files and a README; what is secret is hidden.

    Content by the name's end: `.txt` a text, `.json` a JSON value, `.jsonl` a sequence of JSON values. `by` says what made the bundle.
    """
    out = io.BytesIO()
    now = time.gmtime()
    told = WORDS.format(time=time.strftime("%Y-%m-%d %H:%M:%S", now), by=by and f", {by}")
    listing = "".join(f"{name:<14} {CONTENTS.get(name, '')}\n" for name in files)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in {README: told + listing, **files}.items():
            zipped.writestr(zipfile.ZipInfo(name, now[:6]), bounded(name, content, redaction), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def bounded(name: str, content: object, redaction: Redaction) -> bytes:
    """Return the bytes of one file, LONGEST_FILE at most; JSON Lines lose the oldest lines, others their end."""
    pieces = [piece.encode("utf-8", "backslashreplace") for piece in _pieces(name, content, redaction)]
    if name.endswith(".jsonl"):
        size, first = 0, len(pieces)
        while first and size + len(pieces[first - 1]) <= LONGEST_FILE:
            first -= 1
            size += len(pieces[first])
        return b"".join(pieces[first:])
    whole = b"".join(pieces)
    return whole if len(whole) <= LONGEST_FILE else whole[: LONGEST_FILE - len(CUT)] + CUT


def versions(build: Mapping[str, str]) -> dict[str, object]:
    """Return what runs here, without the machine's name: `build` is the answer of `GET /version`."""
    kernel = os.uname()
    found: dict[str, object] = {
        "hapticd": dict(build),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": {name: _version(name) for name in LIBRARIES},
        "kernel": f"{kernel.sysname} {kernel.release} {kernel.version}",
        "machine": kernel.machine,
        "processor": _processor(),
        "processors": os.cpu_count(),
        "c_library": " ".join(platform.libc_ver()).strip(),
        "platform": sys.platform,
    }
    with suppress(OSError):
        found["system"] = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return found


def bundle_name(seconds: float | None = None) -> str:
    """Return the usual file name of a bundle that is made at this time (s since 1970; None: now)."""
    return f"hapticd-support-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(seconds))}.zip"


def _pieces(name: str, content: object, redaction: Redaction) -> Iterator[str]:
    """Yield the text without secrets in small pieces: no call holds the interpreter for long."""
    if name.endswith(".txt"):
        for line in str(content).splitlines():
            yield f"{redaction.clean(line)}\n"
    elif name.endswith(".jsonl"):
        for one in cast("Sequence[object]", content):
            yield json.dumps(redaction.cleaned(one)) + "\n"
    else:
        # With an indent the encoder is Python: other threads run in between.
        yield json.dumps(redaction.cleaned(content), indent=1) + "\n"


def _version(name: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None


def _processor() -> str:
    with suppress(OSError):
        for line in CPUINFO.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in PROCESSOR:
                return value.strip()
    return ""
