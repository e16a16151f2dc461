"""Boot loader of the Novint Falcon: upload the user's firmware file, which the device loses without power.

Boot loader at 9600 baud, image at 140 kbaud in chunks of 62 bytes, each of which is echoed.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from actors.port.api import NoDeviceAnswers, PortUnusable
from actors.values.hardware import PortFault
from transport.link.ftdi import (
    BAUD,
    DTR_HIGH,
    DTR_LOW,
    EIGHT_DATA_BITS,
    FLOW,
    LATENCY,
    LINE,
    MODEM,
    RTS_LOW,
    Ftdi,
)
from transport.link.protocols.falcon.spec import FIRMWARE_IMAGE

LARGEST_IMAGE: Final = 1 << 20

BOOT_LATENCY_MS: Final = 16
RUN_LATENCY_MS: Final = 1
BAUD_9600, BAUD_140K, BAUD_RUN = 0x4138, 0x15, 0x2
HELLO, HELLO_ANSWER = b"\x0aC\x0d", b"\x0aD,\x0d"
BEGIN: Final = b"A"
CHUNK: Final = 62
MOST_HELLOS: Final = 100
READS_PER_HELLO: Final = 3
READS_PER_CHUNK: Final = 32


class UploadFailed(NoDeviceAnswers):
    """The echo of the image was wrong or the boot loader stopped answering; the sentence says where."""


def read_image(path: str | None) -> bytes:
    """Return the user's firmware file; PortUnusable says what to do without one."""
    if not path:
        raise _no_image(
            f"a Falcon needs Novint's firmware, which may not be shipped: set {FIRMWARE_IMAGE} to the path of your file"
        )
    try:
        file = Path(path).expanduser()
        if file.exists() and not file.is_file():
            raise _no_image(f"{path} is no file: correct the setting {FIRMWARE_IMAGE}")
        with file.open("rb") as opened:
            image = opened.read(LARGEST_IMAGE + 1)
    except OSError as error:
        raise _no_image(f"{path} cannot be read ({error.strerror}): correct the setting {FIRMWARE_IMAGE}") from error
    except (ValueError, RuntimeError) as error:
        raise _no_image(f"{FIRMWARE_IMAGE} is no path: correct it") from error
    if not 0 < len(image) <= LARGEST_IMAGE:
        size = "is empty" if not image else f"has more than {LARGEST_IMAGE} bytes"
        raise _no_image(f"{path} {size}, so it is no firmware: correct the setting {FIRMWARE_IMAGE}")
    return image


def enter_run_mode(wire: Ftdi) -> None:
    """Set baud rate and latency for the running firmware."""
    wire.control(LATENCY, RUN_LATENCY_MS)
    wire.control(BAUD, BAUD_RUN)
    wire.purge()


def upload(wire: Ftdi, image: bytes, stop: threading.Event) -> None:
    """Upload the image after power-up until the firmware runs; UploadFailed, also when `stop` was set."""
    _wake_boot_loader(wire, stop)
    wire.control(MODEM, DTR_LOW)
    wire.control(BAUD, BAUD_140K)
    wire.write(BEGIN)
    if _answer(wire, len(BEGIN)) != BEGIN:
        raise UploadFailed("the boot loader does not take a firmware: unplug the Falcon's power and plug it in again")
    for at in range(0, len(image), CHUNK):
        _check(stop)
        chunk = image[at : at + CHUNK]
        wire.write(chunk)
        echo = _answer(wire, len(chunk))
        if echo != chunk:
            what = "came back changed" if len(echo) == len(chunk) else "did not come back"
            raise UploadFailed(
                f"firmware upload failed: bytes {at} to {at + len(chunk) - 1} of {len(image)} {what}; "
                "try another cable or USB socket"
            )
    enter_run_mode(wire)


def _wake_boot_loader(wire: Ftdi, stop: threading.Event) -> None:
    wire.purge()
    wire.control(LATENCY, BOOT_LATENCY_MS)
    wire.control(BAUD, BAUD_9600)
    wire.control(LINE, EIGHT_DATA_BITS)
    wire.control(FLOW, 0)
    wire.control(MODEM, RTS_LOW)
    wire.control(MODEM, DTR_LOW)
    wire.control(MODEM, DTR_HIGH)
    for _ in range(MOST_HELLOS):
        _check(stop)
        wire.write(HELLO)
        received = b""
        for _ in range(READS_PER_HELLO):
            received += wire.read()
            if received.endswith(HELLO_ANSWER):
                return
    raise UploadFailed("the boot loader does not answer: unplug the Falcon's power and plug it in again")


def _answer(wire: Ftdi, length: int) -> bytes:
    """Return that many bytes, or fewer if the boot loader stops answering."""
    received = b""
    for _ in range(READS_PER_CHUNK):
        received += wire.read()
        if len(received) >= length:
            break
    return received


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise UploadFailed("the upload was given up")


def _no_image(sentence: str) -> PortUnusable:
    return PortUnusable(PortFault.NO_FIRMWARE_IMAGE, sentence)
