"""The command `hapticd`: its options, help and version, and the one-line errors when it cannot start."""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.service.addresses import FREE_PORTS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from transport.build_info import project_version
from transport.main import main

HAPTICD = str(Path(sys.executable).with_name("hapticd"))
TIMEOUT_S = 60
PORT_SETTING = "communication/websocket/port"
GARBAGE = b'{"format": 1, "simulation/seed": 7'
NO_NETWORK_6 = "sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 && ip link set lo up && exec"


def run(*arguments: str, state_dir: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, to its end, on free ports."""
    chosen = [part for key, value in FREE_PORTS.items() for part in ("--set", f"{key}={value}")]
    where = [] if state_dir is None else ["--state-dir", str(state_dir)]
    whole = ["run", *where, *chosen, *arguments[1:]] if arguments[:1] == ("run",) else [*arguments, *where]
    return subprocess.run([HAPTICD, *whole], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def sentence(stderr: str) -> str:
    """The one line that a refusal consists of."""
    (line,) = stderr.splitlines()
    assert line.startswith("hapticd: ")
    assert line.endswith((".", "?"))
    return line.removeprefix("hapticd: ")


# ------------------------------------------------------------ what needs no service


def test_version_is_printed_on_one_line() -> None:
    done = run("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"hapticd {project_version()}\n", "")


def test_no_arguments_print_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2

    shown = capsys.readouterr().out
    assert "run " in shown
    assert "token " in shown
    assert "hapticd run --simulate arm,grip" in shown


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["token", "--help"]])
def test_help_names_every_option_and_its_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    shown = capsys.readouterr().out
    assert ended.value.code == 0
    if arguments[0] == "run":
        for option in ("--simulate", "--vocabulary", "--frequency", "--log-level", "--set", "--state-dir"):
            assert re.search(rf"{option} [A-Z=]+\s+\S", shown), option
        assert "100 to 32000" in shown


def test_token_of_a_service_is_one_word_private_and_kept(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    with RunningService(state_dir=state_dir):
        first = run("token", state_dir=state_dir)
    again = run("token", state_dir=state_dir)

    assert first.returncode == again.returncode == 0
    assert first.stdout == again.stdout
    assert len(first.stdout.split()) == 1
    assert len(first.stdout.strip()) >= 32
    assert first.stderr == ""
    assert stat.S_IMODE((state_dir / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(state_dir.stat().st_mode) == 0o700


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "control/frequncy=1000"], "control/frequncy"),
        (["--set", "control/frequency"], "KEY=VALUE"),
        (["--set", "control/frequency=fast"], "control/frequency"),
        (["--set", "sessions/command_timeout=5"], "0.02 to 0.5"),
        (["--frequency", "99"], "--frequency: give a whole number from 100 to 32000"),
        (["--frequency", "32001"], "100 to 32000"),
        (["--set", "control/frequency=99"], "--set control/frequency: give"),
        (["--frequency", "99", "--set", "control/frequency=200"], "--frequency: give a whole number"),
        (["--frequency", "200", "--set", "control/frequency=99"], "--set control/frequency: give a whole number"),
        (["--set", "control/frequency=99", "--frequency", "200"], "--set control/frequency: give a whole number"),
        (["--simulate", "arm,hammer", "--set", "devices/simulated=arm"], "--simulate: "),
        (["--simulate", "arm", "--set", "devices/simulated=hammer"], "--set devices/simulated: "),
        (["--simulate", "arm,hammer"], "--simulate: "),
        (["--simulate", "arm,hammer"], "hammer"),
        (["--simulate", ",".join(["arm"] * 17)], "at most 16"),
        (["--vocabulary", "latin"], "neutral"),
        (["--log-level", "loud"], "--log-level: "),
        (["--log-level", "loud"], "debug"),
    ],
)
def test_invalid_option_value_is_one_sentence_with_the_allowed_values(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--state-dir", str(tmp_path / "state"), *arguments]) == 2

    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in sentence(shown.err)
    assert not (tmp_path / "state").exists()


def test_invalid_environment_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HAPTICD_CONTROL__FREQUENCY", "99")

    assert main(["run", "--state-dir", str(tmp_path)]) == 2

    assert "HAPTICD_CONTROL__FREQUENCY" in sentence(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "--simulat", "arm"], "there is no option --simulat, write hapticd run --simulate"),
        (["run", "--simulte=arm"], "there is no option --simulte, write hapticd run --simulate"),
        (["run", "-simulate", "arm"], "there is no option -simulate, write hapticd run --simulate"),
        (["run", "--s", "arm"], "there is no option --s, write hapticd run --simulate or --set or --state-dir"),
        (["--simulate"], "there is no option --simulate, write hapticd run --simulate"),
        (["--simulate", "arm"], "there is no option --simulate, write hapticd run --simulate"),
        (["--frequency=3", "run"], "there is no option --frequency, write hapticd run --frequency"),
        (["--state-dir", "x", "token"], "there is no option --state-dir, write hapticd token --state-dir"),
        (["--", "run"], "unrecognized arguments: --"),
        (["token", "--state", "x"], "there is no option --state, write hapticd token --state-dir"),
        (["token", "--simulate", "arm"], "unrecognized arguments: --simulate arm"),
        (["run", "arm"], "unrecognized arguments: arm"),
        (["run", "="], "unrecognized arguments: ="),
        (["run", "-"], "unrecognized arguments: -"),
        (["--vers"], "there is no option --vers, write hapticd --version"),
    ],
)
def test_abbreviated_or_unknown_option_is_refused_with_a_suggestion(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert capsys.readouterr().err == f"hapticd: {says}: see hapticd --help and hapticd run --help\n"


def test_more_than_sixteen_simulated_devices_are_refused(tmp_path: Path) -> None:
    done = run("run", "--simulate", ",".join(["arm"] * 17), state_dir=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "at most 16" in sentence(done.stderr)


@pytest.mark.parametrize("setting", [PORT_SETTING, "communication/events/port"])
def test_port_in_use_is_named_with_its_setting(setting: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("run", "--set", f"{setting}={port}", state_dir=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence(done.stderr).startswith(f"Port {port} is in use")
    assert f"--set {setting}=PORT" in done.stderr


def test_locked_state_directory_names_the_owning_process(tmp_path: Path) -> None:
    with RunningService(state_dir=tmp_path) as service:
        done = run("run", state_dir=tmp_path)

        assert (done.returncode, done.stdout) == (2, "")
        assert f"in use by process {service.process.pid}" in sentence(done.stderr)
        assert "--state-dir" in done.stderr
        assert run("token", state_dir=tmp_path).returncode == 0


def test_token_of_a_missing_state_directory_is_refused_and_makes_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for state_dir in (tmp_path / "typo", tmp_path / "typo" / "below", Path("/proc/x")):
        assert main(["token", "--state-dir", str(state_dir)]) == 2

        shown = capsys.readouterr()
        assert shown.out == ""
        assert f"--state-dir: there is no state directory {state_dir}" in sentence(shown.err)
    assert list(tmp_path.iterdir()) == []


def test_variables_of_the_client_commands_are_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HAPTICD_URL", "HAPTICD_TOKEN", "HAPTICD_EVENTS_URL"):
        monkeypatch.setenv(name, "http://localhost:1")

    assert main(["run", "--state-dir", str(tmp_path), "--frequency", "99"]) == 2

    assert sentence(capsys.readouterr().err).startswith("--frequency: ")


def test_unknown_module_is_named_at_the_start_with_those_installed(tmp_path: Path) -> None:
    with RunningService(state_dir=tmp_path, settings={"features/modules/enabled": "nope"}) as service:
        eventually(lambda: "nope" in service.log, "it says so", pause_s=0.01)

    (line,) = [line for line in service.log.splitlines() if "nope" in line]
    assert "WARNING hapticd: features/modules/enabled: there is no module 'nope'" in line
    assert "installed: " in line


def test_token_before_the_first_start_is_refused_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "given").mkdir()
    for words in (["token"], ["token", "--state-dir", str(tmp_path / "given")]):
        assert main(words) == 2

        shown = capsys.readouterr()
        assert shown.out == ""
        assert "There is no token in" in sentence(shown.err)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["given"]


def test_token_without_the_option_is_that_of_the_service_that_runs(tmp_path: Path) -> None:
    """A user's own old token is no other service's."""
    (tmp_path / "home" / "hapticd").mkdir(parents=True)
    (tmp_path / "home" / "hapticd" / "token").write_text("x" * 40)
    installed = tmp_path / "installed"
    code = (
        "import sys, pathlib; from actors.settings import stored_token as s; "
        f"print(s.state_path_in_use((pathlib.Path({str(tmp_path / 'home' / 'hapticd')!r}), pathlib.Path({str(installed)!r}))))"
    )

    def chosen() -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    with RunningService(state_dir=installed):
        assert chosen() == str(installed)
    assert chosen() == str(tmp_path / "home" / "hapticd")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may read every user's token")
def test_root_reads_the_token_of_another_user_and_nobody_else_does(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    (state / "token").write_text("y" * 40)
    (state / "token").chmod(0o600)
    os.chown(state / "token", 12345, 12345)
    tmp_path.chmod(0o755)

    assert run("token", state_dir=state).stdout == f"{'y' * 40}\n"
    assert (state / "token").stat().st_uid == 12345


@pytest.mark.parametrize("command", ["run", "token"])
def test_invalid_state_directory_is_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "file"
    taken.touch()
    if command == "token":
        assert main([command, "--state-dir", str(taken)]) == 2
        assert f"{taken} is no folder" in sentence(capsys.readouterr().err)
        return
    for state_dir, why in [(taken, "it is no folder"), (taken / "below", "Not a directory"), (Path("/proc/x"), "")]:
        assert main([command, "--state-dir", str(state_dir)]) == 2

        shown = capsys.readouterr()
        assert shown.out == ""
        assert f"The state directory {state_dir} cannot be written ({why}" in sentence(shown.err)


@pytest.mark.parametrize("command", ["run", "token"])
def test_empty_state_directory_option_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--state-dir", ""]) == 2

    assert "--state-dir needs the path of a folder" in sentence(capsys.readouterr().err)


def test_fifo_instead_of_a_state_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "settings.json")

    assert main(["run", "--state-dir", str(tmp_path)]) == 2

    assert f"{tmp_path / 'settings.json'} is a FIFO" in sentence(capsys.readouterr().err)


# ------------------------------------------------------------ what it puts up with


def test_corrupt_state_files_are_moved_aside_and_logged(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(GARBAGE)
    (tmp_path / "ledger.json").write_bytes(b"\xff\xfe")

    with RunningService(state_dir=tmp_path) as service:
        assert service.request("GET", "/settings/simulation/seed")[1]["data"]["value"] == 0
        assert service.request("POST", "/settings/simulation/seed", 8)[0] == 200

    for name, content in (("settings.json", GARBAGE), ("ledger.json", b"\xff\xfe")):
        (kept,) = tmp_path.glob(f"{name}.broken-*")
        assert kept.read_bytes() == content
        (line,) = [line for line in service.log.splitlines() if kept.name in line]
        assert f"ERROR actors.settings.file: {tmp_path / name} cannot be read" in line
    assert "Traceback" not in service.log


def without_fifo() -> Sequence[str]:
    """A command in front of another that takes away the right to SCHED_FIFO; skips where nothing can."""
    if shutil.which("prlimit") is None:
        pytest.skip("prlimit is not installed (Debian package util-linux)")
    if os.geteuid() != 0:
        return ["prlimit", "--rtprio=0"]
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed (Debian package util-linux)")
    return ["prlimit", "--rtprio=0", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]


def test_start_without_realtime_permission_is_logged_and_continues(tmp_path: Path) -> None:
    with RunningService(command=[*without_fifo(), HAPTICD], state_dir=tmp_path) as service:
        page = service.metrics()
        assert service.request("GET", "/readyz")[0] == 200

    assert "\nhapticd_loop_realtime 0.0\n" in page
    (line,) = [line for line in service.log.splitlines() if "SCHED_FIFO" in line]
    assert "INFO" in line, "no warning: there are simulated devices only"
    assert "hapticd doctor" in line


def test_start_without_ipv6_listens_on_ipv4_and_logs_it(tmp_path: Path) -> None:
    probe = ["unshare", "-n", "sh", "-c", f"{NO_NETWORK_6} true"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("a network without IPv6 cannot be made here (unshare, sysctl and ip, as root)")
    command = ["unshare", "-n", "sh", "-c", f'{NO_NETWORK_6} "$0" "$@"', HAPTICD]

    with RunningService(command=command, state_dir=tmp_path) as service:
        inside = ["nsenter", "-n", "-t", str(service.process.pid)]
        ask = f"import urllib.request as r; print(r.urlopen('{service.http}/readyz').status)"
        asked = subprocess.run([*inside, sys.executable, "-c", ask], capture_output=True, text=True, check=True)

    assert asked.stdout == "200\n"
    assert service.http.startswith("http://127.0.0.1:")
    (line,) = [line for line in service.log.splitlines() if "IPv6" in line]
    assert "INFO" in line


def test_start_with_both_families_listens_on_both(tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with RunningService(state_dir=tmp_path) as service:
        port = int(service.http.rsplit(":", 1)[1])
        socket.create_connection(("::1", port), timeout=TIMEOUT_S).close()
        socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S).close()

    assert "IPv6" not in service.log


def test_start_without_a_token_on_other_addresses_logs_a_warning(tmp_path: Path) -> None:
    with RunningService(
        "--log-level", "error", state_dir=tmp_path, settings={"communication/auth/required": "false"}
    ) as service:
        eventually(lambda: "auth/required" in service.log, "it says so", pause_s=0.01)

    (line,) = [line for line in service.log.splitlines() if "communication/auth/required is off" in line]
    assert "ERROR" in line
