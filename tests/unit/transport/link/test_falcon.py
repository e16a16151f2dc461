"""The Falcon driver over the real pyusb and an emulated bus: boot, firmware upload, homing, forces, open errors."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.port.link_interface import NoDeviceAnswers, PortUnusable
from actors.values.hardware import PortFault
from actors.values.identity import Connection, Kind
from actors.values.mechanism_kind import MechanismKind
from fastpath.codecs.falcon_py import Delta
from tests.emulators import falcon_board
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from transport.link.polled_device import Unplugged
from transport.link.protocols.falcon import boot, device
from transport.link.protocols.falcon.device import FalconDevice, open_falcon
from transport.link.usb_bus import UsbBus, candidate_of

IMAGE = bytes(range(256)) * 2
PUSH = (50.0, -50.0, 100.0)
PURGE = [(0, 1), (0, 2)]
RUN = [(9, 1), (3, 0x2), *PURGE]

Opener = Callable[..., FalconDevice]


@pytest.fixture
def image(tmp_path: Path) -> str:
    """A firmware file of somebody's own."""
    path = tmp_path / "driver.bin"
    path.write_bytes(IMAGE)
    return str(path)


@pytest.fixture
def opener() -> Opener:
    """Open the only Falcon of a bus, as the service does."""

    def opened(
        bus: FalconBus, path: str | None = None, counts: float = 10_000.0, stop: threading.Event | None = None
    ) -> FalconDevice:
        (device,) = UsbBus(bus).devices()
        return open_falcon(device, candidate_of(device), path, lambda: counts, stop or threading.Event())

    return opened


def home(driver: FalconDevice, board: FalconBoard) -> None:
    """As a user does: all the way out, all the way in, and back to the middle."""
    for place in (falcon_board.OUT, falcon_board.IN, falcon_board.REST):
        board.hand = place
        for _ in range(200):
            driver.exchange((0.0, 0.0, 0.0))


def _motors(board: FalconBoard) -> falcon_board.Vector:
    """What it was commanded last."""
    return board.motors


def test_loaded_falcon_is_only_set_to_run_mode(opener: Opener) -> None:
    board = FalconBoard(loaded=True)

    opener(FalconBus(board))

    assert board.controls == RUN
    assert board.uploads == 0


def test_handshake_has_the_known_bytes(opener: Opener, image: str) -> None:
    board = FalconBoard()

    opener(FalconBus(board), image)

    assert board.controls == [
        *RUN,
        *PURGE,
        (9, 16),
        (3, 0x4138),
        (4, 8),
        (2, 0),
        (1, 0x0200),
        (1, 0x0100),
        (1, 0x0101),
        (1, 0x0100),
        (3, 0x15),
        *RUN,
    ]
    assert board.writes[:2] == [b"\x0a\x43\x0d", b"\x41"]
    assert [len(chunk) for chunk in board.writes[2:]] == [62] * 8 + [16]
    assert b"".join(board.writes[2:]) == IMAGE
    assert (bytes(board.image), board.uploads, board.loaded) == (IMAGE, 1, True)


def test_late_boot_loader_is_asked_again(opener: Opener, image: str) -> None:
    board = FalconBoard(boot_deaf=2)

    opener(FalconBus(board), image)

    assert board.writes[:4] == [b"\x0a\x43\x0d"] * 3 + [b"\x41"]


@pytest.mark.parametrize("flipped", [0, 61, 62, 300, len(IMAGE) - 1])
def test_wrong_echo_byte_ends_the_upload(opener: Opener, image: str, flipped: int) -> None:
    board = FalconBoard(echo_flips=flipped)
    bus = FalconBus(board)
    start = flipped // 62 * 62

    with pytest.raises(boot.UploadFailed, match=f"bytes {start} to .* of 512 came back changed"):
        opener(bus, image)

    assert not board.loaded
    assert len(board.image) == min(start + 62, len(IMAGE)), "nothing was sent after the wrong echo"
    assert bus.open_handles == 0


def test_upload_after_a_failed_one_starts_over(opener: Opener, image: str) -> None:
    board = FalconBoard(echo_flips=100)
    bus = FalconBus(board)
    with pytest.raises(boot.UploadFailed):
        opener(bus, image)
    board.echo_flips = None

    opener(bus, image)

    assert (bytes(board.image), board.uploads) == (IMAGE, 1)


def test_missing_firmware_file_setting_is_named(opener: Opener) -> None:
    board = FalconBoard()
    bus = FalconBus(board)

    with pytest.raises(PortUnusable, match="set devices/falcon/firmware_image to the path") as failed:
        opener(bus)

    assert failed.value.reason is PortFault.NO_FIRMWARE_IMAGE
    assert board.writes == [], "nothing is sent to the boot loader before there is a file"
    assert bus.open_handles == 0


@pytest.mark.parametrize(
    ("content", "because"),
    [(None, "No such file"), (b"", "is empty"), (bytes((1 << 20) + 1), "more than 1048576 bytes")],
)
def test_a_file_that_is_no_firmware_is_named(tmp_path: Path, content: bytes | None, because: str) -> None:
    path = tmp_path / "novint.bin"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(PortUnusable, match=because) as failed:
        boot.read_image(str(path))

    assert failed.value.reason is PortFault.NO_FIRMWARE_IMAGE
    assert str(path) in failed.value.sentence


@pytest.mark.parametrize("path", ["/", "a\0b", "~nobody-here/x", "/dev/zero", "x" * 5000])
def test_missing_firmware_file_is_refused(path: str) -> None:
    with pytest.raises(PortUnusable, match="devices/falcon/firmware_image"):
        boot.read_image(path)


@pytest.mark.parametrize(
    ("number", "reason", "words"),
    [
        (errno.EACCES, PortFault.PERMISSION, "udev rule"),
        (errno.EPERM, PortFault.PERMISSION, "udev rule"),
        (errno.EBUSY, PortFault.IN_USE, "another program"),
    ],
)
@pytest.mark.parametrize("when", ["refused", "taken"])
def test_open_error_has_its_reason(opener: Opener, number: int, reason: PortFault, words: str, when: str) -> None:
    bus = FalconBus(FalconBoard(loaded=True))
    setattr(bus, when, number)

    with pytest.raises(PortUnusable, match=words) as failed:
        opener(bus)

    assert failed.value.reason is reason
    assert bus.open_handles == 0


def test_falcon_opened_by_another_program_is_in_use(opener: Opener) -> None:
    bus = FalconBus(FalconBoard(loaded=True))
    opener(bus)

    with pytest.raises(PortUnusable, match="another program"):
        opener(bus)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENODEV])
def test_other_open_errors_are_no_device_answers(opener: Opener, number: int) -> None:
    bus = FalconBus(FalconBoard(loaded=True))
    bus.refused = number

    with pytest.raises(NoDeviceAnswers):
        opener(bus)


def test_upload_can_be_interrupted(opener: Opener, image: str) -> None:
    stop = threading.Event()
    stop.set()
    board = FalconBoard()
    bus = FalconBus(board)

    with pytest.raises(NoDeviceAnswers, match="given up"):
        opener(bus, image, stop=stop)

    assert bus.open_handles == 0


def test_a_falcon_is_shown_as_a_compact_with_its_own_reach_and_mechanism(opener: Opener) -> None:
    found = opener(FalconBus(FalconBoard(loaded=True, serial="NF0012345678"))).found

    assert (found.kind, found.connection, found.driver) == (Kind.COMPACT, Connection.USB, "falcon")
    assert found.device_id == "12345678"
    assert len(found.uuid) == 32
    assert found.mechanism is not None
    assert found.mechanism.kind is MechanismKind.DELTA
    assert found.mechanism.torque_limit == pytest.approx(409.6)
    assert found.calibrated
    assert found.reach is not None
    assert found.reach.centre == (0.0, -0.085, 0.1)


def test_whole_reach_is_within_the_mechanism() -> None:
    reach = device.REACH
    mechanism = Delta(device.BASE)
    corners = [
        (x, y, z)
        for x in (reach.low[0], 0.0, reach.high[0])
        for y in (reach.low[1], reach.centre[1], reach.high[1])
        for z in (reach.low[2], reach.centre[2], reach.high[2])
    ]

    outside = [corner for corner in corners if mechanism.cranks(corner) is None]

    assert outside == []


def test_no_force_reaches_the_motors_before_all_three_are_homed(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    driver = opener(FalconBus(board))

    for place in (falcon_board.OUT, falcon_board.IN):
        board.hand = place
        for _ in range(300):
            sample = driver.exchange(PUSH)
            assert sample is not None
            assert sample.homed is (board.homed == 7)
            if board.homed != 7:
                assert _motors(board) == (0, 0, 0)
                assert board.lights & 1, "the homing bit stays on until then"
                assert "pull its grip" in driver.fault

    assert board.homed == 7
    assert driver.exchange(PUSH) is not None
    assert _motors(board) == (500, -500, 1000)
    assert not board.lights & 1
    assert driver.fault == ""


def test_angles_become_true_when_homing_ends(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    driver = opener(FalconBus(board))
    before = driver.exchange((0.0, 0.0, 0.0))
    assert before is not None
    assert before.joint == pytest.approx((35.0,) * 3, abs=1), "it counts from where it stood"

    home(driver, board)

    after = driver.exchange((0.0, 0.0, 0.0))
    assert after is not None
    true = board.delta.inverse(board.position)
    assert true is not None
    assert after.joint == pytest.approx([angle * 180 / 3.141592653589793 for angle in true], abs=0.04)


def test_forces_stop_when_the_falcon_is_not_homed_any_more(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    driver = opener(FalconBus(board))
    home(driver, board)
    driver.exchange(PUSH)
    board.homed = 3

    driver.exchange(PUSH)
    driver.exchange(PUSH)

    assert _motors(board) == (0, 0, 0)


def test_push_moves_the_grip_in_its_direction(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    driver = opener(FalconBus(board))
    home(driver, board)
    before = board.position[1]
    torque = Delta().force  # the emulator's own map: cranks turned alike push towards the user

    for _ in range(100):
        driver.exchange((100.0, 100.0, 100.0))

    assert torque(board.position, (0.1, 0.1, 0.1))[1] < -1
    assert board.position[1] < before - 0.005


def test_buttons_of_the_grip_are_in_the_sample(opener: Opener) -> None:
    board = FalconBoard(loaded=True, buttons=5)
    driver = opener(FalconBus(board))

    sample = driver.exchange((0.0, 0.0, 0.0))

    assert sample is not None
    assert sample.buttons == 5


@pytest.mark.parametrize("counts", [0.0, -10_000.0])
def test_torque_scale_may_be_zero_or_negative(opener: Opener, counts: float) -> None:
    board = FalconBoard(loaded=True)
    driver = opener(FalconBus(board), counts=counts)
    home(driver, board)

    driver.exchange(PUSH)

    assert _motors(board) == ((0, 0, 0) if counts == 0 else (-500, 500, -1000))


def test_closing_leaves_the_motors_at_zero(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    bus = FalconBus(board)
    driver = opener(bus)
    home(driver, board)
    driver.exchange(PUSH)

    driver.close()

    assert _motors(board) == (0, 0, 0)
    assert bus.open_handles == 0


def test_unplugged_falcon_is_gone_and_can_be_closed(opener: Opener) -> None:
    board = FalconBoard(loaded=True)
    bus = FalconBus(board)
    driver = opener(bus)
    bus.unplug(board)

    with pytest.raises(Unplugged, match="unplugged"):
        driver.exchange(PUSH)
    driver.close()

    assert bus.open_handles == 0


def test_pipe_as_firmware_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(PortUnusable, match="is no file"):
        boot.read_image(str(tmp_path / "pipe"))
