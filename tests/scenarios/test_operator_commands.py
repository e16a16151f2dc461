"""The operators' commands with a running service: what they print, change, and end with; live ones on a real terminal."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.terminal import CTRL_C, on_terminal

HAPTICD = str(Path(sys.executable).with_name("hapticd"))
TIMEOUT_S = 60
FAST = 0.5  # m/s, above what an e-brake waits for
CLEAR = {key: value for key, value in os.environ.items() if not key.startswith("HAPTICD_")}


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


@pytest.fixture
def environment(service: RunningService) -> dict[str, str]:
    return {**CLEAR, "HAPTICD_URL": service.http, "HAPTICD_EVENTS_URL": service.events, "TERM": "xterm"}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """One command, to its end."""
    return subprocess.run(
        [HAPTICD, *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def document(environment: dict[str, str], *words: str, code: int = 0) -> Any:
    """What a command prints with --json."""
    done = run(environment, *words, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@contextmanager
def shaken(service: RunningService) -> Generator[None]:
    """A simulated hand that moves the arm to and fro, far faster than an e-brake waits for."""
    done = threading.Event()

    def shake() -> None:
        places = itertools.cycle(({"x": 0.02, "y": -0.12, "z": 0.135}, {"x": -0.02, "y": -0.12, "z": 0.135}))
        while not done.wait(0.1):
            hand = {"path": "rest", "position": next(places), "stiffness": 1000}
            service.request("POST", "/simulation/arm/0", {"hand": hand})

    def speed() -> float:
        velocity = service.request("GET", "/devices")[1]["arm"][0]["state"]["cursor_velocity"]
        return math.hypot(*velocity.values())

    shaking = threading.Thread(target=shake)
    shaking.start()
    try:
        eventually(lambda: speed() > FAST, "it moves fast", pause_s=0.005)
        yield
    finally:
        done.set()
        shaking.join()


def test_status_names_loop_devices_and_ports(environment: dict[str, str]) -> None:
    eventually(lambda: run(environment, "status").returncode == 0, "it is ready", pause_s=0.05)
    shown = run(environment, "status").stdout

    assert re.search(r"^service +hapticd \S+ at http://\S+: ready$", shown, re.MULTILINE)
    assert re.search(r"^devices +arm \w+, grip \w+$", shown, re.MULTILINE)
    found = document(environment, "status")
    assert found["ready"] is True
    assert found["problems"] == []
    assert [one["type"] for one in found["devices"]] == ["arm", "grip"]


def test_stop_and_resume_show_in_the_status(environment: dict[str, str]) -> None:
    try:
        assert run(environment, "stop").stdout == "everything is stopped\n"
        found = document(environment, "status", code=1)
        assert found["problems"] == ["everything is stopped: hapticd resume"]
    finally:
        assert run(environment, "resume").stdout == "everything may move\n"

    assert document(environment, "status")["stop"]["stopped"] is False


def test_one_device_is_stopped_alone(environment: dict[str, str]) -> None:
    device_id = document(environment, "devices")["arm"][0]["device_id"]
    try:
        assert run(environment, "stop", "arm/0").stdout == f"{device_id} is stopped\n"
        assert "ready, stopped" in run(environment, "devices").stdout
    finally:
        assert run(environment, "resume", device_id).stdout == f"{device_id} may move\n"


def test_every_device_of_a_type_is_stopped_and_an_id_may_be_in_any_case(environment: dict[str, str]) -> None:
    (arm,) = (one["device_id"] for one in document(environment, "devices")["arm"])
    other = arm.lower() if arm.lower() != arm else arm.upper()

    assert run(environment, "stop", "arm").stdout == f"{arm} is stopped\n"
    assert run(environment, "resume", other).stdout == f"{arm} may move\n"


def test_trips_are_shown_with_cause_value_and_limit(environment: dict[str, str], service: RunningService) -> None:
    (arm,) = (one["device_id"] for one in document(environment, "devices")["arm"])
    before = len(document(environment, "trips", arm)["trips"])
    assert service.request("POST", f"/simulation/arm/{arm}", {"fault": "throw"})[0] == 200
    eventually(lambda: len(document(environment, "trips", arm)["trips"]) > before, "the brake tripped")
    service.request("POST", f"/simulation/arm/{arm}", {"fault": "none"})

    shown = run(environment, "trips").stdout

    assert re.search(rf"{arm}\s+speed\S*.* m/s\s+[\d.]+ m/s", shown)
    assert re.search(rf"^  {arm}: filter took [\d.]+ and added [\d.]+ N·s; damper", shown, re.MULTILINE)
    assert run(environment, "trips", "grip").returncode == 4


def test_versions_of_program_and_service_are_printed(environment: dict[str, str]) -> None:
    done = run(environment, "version")

    assert done.returncode == 0
    assert re.match(r"program  hapticd \d[\d.]*\nservice  hapticd \d[\d.]* at http", done.stdout)
    lost = run({**environment, "HAPTICD_URL": "http://127.0.0.1:9"}, "version")
    assert (lost.returncode, lost.stdout) == (3, "")
    assert "No service answers" in lost.stderr


def test_events_of_the_last_minutes_are_printed(environment: dict[str, str]) -> None:
    assert run(environment, "events", "--since", "1h").stdout.count("\n") > 1
    assert (
        run(environment, "events", "--since", "0s", "--kind", "device-connected").stdout
        == "no such event is remembered\n"
    )
    for wrong in ("10x", "99999999d", "1h2"):
        done = run(environment, "events", "--since", wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong


@pytest.mark.parametrize(
    ("line", "among"),
    [
        ("hapticd stop ", {"arm", "grip"}),
        ("hapticd reset si", {"sim0", "sim1"}),
        ("hapticd settings set control/freq", {"control/frequency"}),
        ("hapticd settings set filters/oscillation/enabled ", {"true", "false"}),
        ("hapticd events --kind device-c", {"device-connected"}),
        ("hapticd stop zzz", set[str]()),
    ],
)
def test_shell_completes_what_the_service_knows(line: str, among: set[str], environment: dict[str, str]) -> None:
    words = len(line.split()) - (0 if line.endswith(" ") else 1)
    asked = {**environment, "COMP_WORDS": line, "COMP_CWORD": str(words), "_HAPTICD_COMPLETE": "bash_complete"}

    found = {row.partition(",")[2] for row in run(asked).stdout.split()}

    assert among <= found
    assert among or not found
    assert run({**asked, "HAPTICD_URL": "http://127.0.0.1:9"}).stdout.split() == []


def test_latched_brake_is_shown_and_ended(environment: dict[str, str], service: RunningService) -> None:
    device_id = document(environment, "devices")["arm"][0]["device_id"]
    held = f"{device_id} is held by its e-brake: hapticd resume {device_id}"

    def simulate(**change: object) -> None:
        assert service.request("POST", "/simulation/arm/0", change)[0] == 200

    def brakes() -> Any:
        return json.loads(run(environment, "status", "--json").stdout)["brakes"]

    assert run(environment, "settings", "set", "features/brake_latch", "true").returncode == 0
    try:
        simulate(fault="throw")
        eventually(lambda: brakes() == {device_id: "waiting"}, "it waits", pause_s=0.01)
        simulate(fault="none")
        assert held in document(environment, "status", code=1)["problems"]
        shown = run(environment, "devices").stdout
        assert "ready, held by its e-brake" in shown
        assert held in shown.splitlines()
        assert held.partition(": ")[0] in run(environment, "check", "arm/0", "--yes").stderr

        everything = run(environment, "resume")
        assert (everything.returncode, everything.stdout) == (1, f"everything but {device_id} may move\n{held}\n")

        with shaken(service):
            moving = run(environment, "resume", "arm/0")
            assert moving.returncode == 1
            assert "slower than 300 mm/s for 1 s: move its handle slowly. It moves at " in moving.stdout
            assert brakes() == {device_id: "braking"}

        simulate(hand={"path": "rest"})
        eventually(lambda: not brakes(), "it is slow", pause_s=0.1)
        assert run(environment, "resume", "arm/0").stdout == f"{device_id} may move\n"
    finally:
        simulate(fault="none", hand={"path": "circle", "position": {"x": 0, "y": -0.12, "z": 0.135}, "stiffness": 150})
        run(environment, "settings", "reset", "features/brake_latch")


def test_device_stays_stopped_with_everything(environment: dict[str, str]) -> None:
    device_id = document(environment, "devices")["arm"][0]["device_id"]
    run(environment, "stop")
    try:
        done = run(environment, "resume", "arm/0")
    finally:
        run(environment, "resume")

    assert (done.returncode, done.stdout) == (1, f"{device_id} is stopped with everything: hapticd resume\n")


def test_setting_is_set_shown_compared_and_reset(environment: dict[str, str]) -> None:
    assert run(environment, "settings", "set", "control/frequency", "2000").stdout == "control/frequency is 2000\n"
    assert "control/frequency = 2000 Hz" in run(environment, "settings", "get", "control/frequency").stdout
    assert "control/frequency" in {row["key"] for row in document(environment, "settings", "diff")}
    assert run(environment, "settings", "reset", "control/frequency").stdout == "control/frequency is 4000\n"
    assert "control/frequency" not in {row["key"] for row in document(environment, "settings", "diff")}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("settings", "set", "control/frequency", "fast"), 4, "100 to 32000"),
        (("settings", "set", "control/frequency", "NaN"), 4, "100 to 32000"),
        (("settings", "set", "control/frequncy", "1"), 4, "control/frequency"),
        (("settings", "set", "control", "1"), 4, "control"),
        (("settings", "get", "nope"), 4, "nope"),
        (("reset", "sim9"), 4, 'no port "sim9": hapticd ports lists'),
        (("settings", "reset", "control/frequncy"), 4, "did you mean control/frequency"),
        (("stop", "grip/0"), 4, "grip"),
        (("stop", "nope"), 4, "hapticd devices lists"),
        (("resume", "nope"), 4, 'There is no device "nope": hapticd devices lists'),
        (("resume", "hammer/0"), 4, 'There is no device "hammer/0": hapticd devices lists'),
        (("settings", "set", "control/frequency", "1e400"), 4, "give a whole number from 100 to 32000 Hz"),
        (("check", "nope"), 4, "nope"),
        (("check", "arm/0"), 2, "--yes"),
        (("check", "*"), 4, "2 devices are meant"),
        (("pair", "arm/0", "arm/0"), 4, ""),
        (("calibrate", "pen/0"), 4, ""),
        (("events", "--kind", "nope"), 4, "nope"),
        (("events", "--since", "yesterday"), 4, "since"),
    ],
)
def test_refusal_is_one_sentence(words: tuple[str, ...], code: int, says: str, environment: dict[str, str]) -> None:
    done = run(environment, *words)

    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("hapticd: ")
    assert says in line


def test_session_is_listed_with_its_profile(environment: dict[str, str], service: RunningService) -> None:
    assert run(environment, "sessions").stdout == "no session is open\n"
    example = Path(__file__).parents[2] / "docs" / "examples" / "print_devices.py"
    with subprocess.Popen(
        [sys.executable, str(example), "--seconds", "60", "--url", service.ws], stdout=subprocess.PIPE
    ) as client:
        try:
            assert client.stdout is not None
            client.stdout.readline()
            (session,) = document(environment, "sessions")["sessions"]
            assert session["profile"]["name"] == "default"
        finally:
            client.kill()


def test_pair_and_calibration_are_shown(environment: dict[str, str]) -> None:
    grip = document(environment, "devices")["grip"][0]["device_id"]

    assert run(environment, "pair", "arm/0").stdout == f"arm/0 is paired with {grip} (automatic)\n"
    assert run(environment, "pair", "arm/0", "grip/0").stdout == f"arm/0 is paired with {grip} (manual)\n"
    assert run(environment, "pair", "arm/0", "--dissolve").stdout == "arm/0 has no pair\n"
    assert run(environment, "pair", "arm/0", grip).stdout == f"arm/0 is paired with {grip} (manual)\n"
    eventually(lambda: run(environment, "calibrate", "arm/0").returncode == 0, "it is calibrated", pause_s=0.1)


def test_remembered_events_are_printed_once_each(environment: dict[str, str]) -> None:
    done = run(environment, "events", "--kind", "device-connected", "--json")

    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["device-connected"] * 2


def test_no_remembered_event_is_told(environment: dict[str, str]) -> None:
    done = run(environment, "events", "--level", "panic")

    assert (done.returncode, done.stdout) == (0, "no such event is remembered\n")


def test_address_with_a_version_shows_the_devices(environment: dict[str, str]) -> None:
    shown = run({**environment, "HAPTICD_URL": f"{environment['HAPTICD_URL']}/3.0/"}, "devices").stdout

    assert " arm " in shown


def test_channel_without_events_is_told(environment: dict[str, str], service: RunningService) -> None:
    done = run(environment, "events", "--events-url", service.ws)

    assert done.returncode == 3
    assert "sends no events" in done.stderr


def test_port_of_the_event_channel_is_told_apart(environment: dict[str, str], service: RunningService) -> None:
    done = run({**environment, "HAPTICD_URL": service.events}, "status")

    assert done.returncode == 3
    assert "has no /version: it is another port of hapticd" in done.stderr


def test_reader_that_goes_away_ends_the_command_quietly(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [HAPTICD, "monitor", "--interval", "0.01"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 141
        assert process.stderr.read() == b""


COMPLETE = (
    "status",
    "devices --json",
    "events",
    "reset nope --json",
    "settings",
    "stop --help",
    "completion bash",
    "token",
)


@pytest.mark.parametrize("words", COMPLETE)
def test_output_that_cannot_be_written_is_one_sentence(
    words: str, environment: dict[str, str], service: RunningService
) -> None:
    where = f"--state-dir {service.state_dir}" if words == "token" else ""
    full = subprocess.run(
        ["sh", "-c", f"exec {HAPTICD} {words} {where} >/dev/full"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    reader, writer = os.pipe()
    os.close(reader)
    gone = subprocess.run(
        [HAPTICD, *words.split(), *where.split()],
        env=environment,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=False,
    )
    os.close(writer)

    (line,) = full.stderr.splitlines()
    assert (full.returncode, line.partition(" (")[0]) == (5, "hapticd: The output cannot be written")
    assert (gone.returncode, gone.stderr) == (141, b"")


@pytest.mark.parametrize("example", ["print_devices.py", "wall.py"])
@pytest.mark.parametrize("lines", [0, 1])
def test_example_whose_reader_goes_away_ends_quietly(
    example: str, lines: int, environment: dict[str, str], service: RunningService
) -> None:
    path = Path(__file__).parents[2] / "docs" / "examples" / example
    with subprocess.Popen(
        [sys.executable, str(path), "--seconds", "60", "--url", service.ws],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 141
        assert process.stderr.read() == b""


def test_folder_that_stores_no_files_is_told_as_such(environment: dict[str, str]) -> None:
    shown = run(environment, "doctor", "--state-dir", "/proc/x").stdout

    assert "/proc/x cannot be written: its file system is read-only, or stores no files" in shown
    assert "is full" not in shown
    assert "/dev/null is no folder" in run(environment, "doctor", "--state-dir", "/dev/null/x").stdout


def test_constraint_of_a_setting_is_shown_in_words(environment: dict[str, str]) -> None:
    shown = run(environment, "settings", "get", "control/frequency").stdout

    assert "takes a whole number from 100 to 32000 Hz" in shown
    assert "hapticd resume DEVICE" in run(environment, "settings", "get", "features/brake_latch").stdout


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_no_stack_trace(closed: str, environment: dict[str, str]) -> None:
    for words, code in (("devices", 0), ("reset nope", 4)):
        done = subprocess.run(
            ["sh", "-c", f"{HAPTICD} {words} {closed}"],
            env=environment,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("columns", ["20", "80", "300"])
def test_monitor_on_a_terminal_draws_in_place_and_ctrl_c_ends_it(columns: str, environment: dict[str, str]) -> None:
    code, shown = on_terminal(
        [HAPTICD, "monitor", "--interval", "0.02"],
        "\x1b[?25l",  # the cursor is hidden: it draws
        lambda _process, keyboard: os.write(keyboard, CTRL_C),
        environment={**environment, "COLUMNS": columns, "LINES": "24"},
    )

    assert code == 0
    assert "Traceback" not in shown
    assert "\x1b[?25h" in shown, "the cursor is shown again"


def test_monitor_without_colour_has_no_colour(environment: dict[str, str]) -> None:
    code, shown = on_terminal(
        [HAPTICD, "monitor", "--count", "2", "--interval", "0.02"],
        "never",
        lambda _process, _keyboard: None,
        environment={**environment, "NO_COLOR": "1"},
    )

    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)


def test_followed_events_come_until_ctrl_c(environment: dict[str, str], service: RunningService) -> None:
    code, shown = on_terminal(
        [HAPTICD, "events", "--follow", "--since", "1970-01-01T00:00:00Z", "--kind", "device-connected"],
        "device-connected",
        lambda _process, keyboard: os.write(keyboard, CTRL_C),
        environment=environment,
    )

    assert code == 0
    assert "Traceback" not in shown
    assert service.is_running()


def test_simulated_arm_passes_the_check_while_a_hand_moves_it(environment: dict[str, str]) -> None:
    found = document(environment, "check", "arm/0", "--yes")

    assert found["ok"] is True
    assert {one["part"]: one["grade"] for one in found["verdicts"]}["axis z"] == "ok"
    assert max(abs(push["force"]) for push in found["measured"]["pushes"]) <= 1.0


def test_stopped_device_is_not_checked(environment: dict[str, str]) -> None:
    run(environment, "stop")
    try:
        done = run(environment, "check", "arm/0", "--yes")
    finally:
        run(environment, "resume")

    assert done.returncode == 4
    assert "hapticd resume lets it move" in done.stderr


def test_service_that_ends_ends_the_followed_events(tmp_path: Path) -> None:
    with (
        RunningService(state_dir=tmp_path) as ending,
        subprocess.Popen(
            [HAPTICD, "events", "--follow", "--since", "1970-01-01T00:00:00Z"],
            env={**CLEAR, "HAPTICD_URL": ending.http, "HAPTICD_EVENTS_URL": ending.events},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        ending.stop()
        assert process.wait(TIMEOUT_S) == 3
        assert "has closed the channel" in process.stderr.read()


def test_sentence_names_the_program_as_it_was_typed_in_a_clone() -> None:
    folder = Path(HAPTICD).parent
    done = subprocess.run(
        [f"{folder.name}/hapticd", "status", "--url", "http://127.0.0.1:9"],
        cwd=folder.parent,
        env=CLEAR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert f"start one with {folder.name}/hapticd run" in done.stderr
