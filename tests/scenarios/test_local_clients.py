"""Clients on this machine: what each way out gives the motors, and that a bad client harms only itself. Real processes, in C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.local.connection import LocalConnection, Program, answer_to, client_program, raw
from tests.support.local.page import FORCE, POSITION
from tests.support.loop.devices import ARM_CENTRE
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

PUSH_N = 2.0
# s: the time-out and the fade, and some ticks
HELD_NS = 75_000_000
SEATS = 32
NOBODY = 65534


# The motors get a force as it was sent: a push that begins with a step may be damped as an oscillation.
UNFILTERED = {"filters/oscillation/enabled": False}


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate="arm", settings=UNFILTERED) as running:
        yield running


@pytest.fixture
def watch(service: RunningService) -> Iterator[Watch]:
    """A local client that commands nothing, to see every tick; no other session is left afterwards."""
    with Watch(service) as watching:
        yield watching
    eventually(lambda: sessions(service) == [], "every session is gone", pause_s=0.01)


class Watch(LocalConnection):
    """Sees the arm as the loop shows it."""

    def __init__(self, service: RunningService) -> None:
        super().__init__(service.state_dir, name="watch", commands=[])
        self.begin()
        self.device_id = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
        self.arm, self.generation = self.slot(self.device_id)

    @property
    def z(self) -> float:
        """The force that the motors get upwards, N."""
        return round(self.states.force(self.arm)[2], 6)

    @property
    def time_ns(self) -> int:
        """Time of the newest state."""
        return int(self.states.state(self.arm)[1])

    def until(self, force: float) -> int:
        """Wait until the motors get this force; the time of the newest state with another one, ns."""
        last = 0

        def there() -> bool:
            nonlocal last
            state = self.states.state(self.arm)
            if round(state[14], 6) == force:
                return True
            last = int(state[1])
            return False

        eventually(there, f"{force} N", pause_s=0.0005, tries=60_000)
        return last


def sessions(service: RunningService) -> list[int]:
    return [one["session_id"] for one in service.request("GET", "/sessions")[1]["sessions"]]


@contextmanager
def pushing(service: RunningService, watch: Watch, force: float = PUSH_N) -> Generator[Program]:
    """A client whose force the motors get."""
    with Program(service.state_dir, "push", str(force)) as program:
        assert program.word() == "pushing"
        watch.until(force)
        yield program


# ---------------------------------------------------------------- it is a session


def test_a_local_client_is_a_session_like_others(service: RunningService, watch: Watch) -> None:
    with pushing(service, watch) as program:
        (_, mine) = service.request("GET", "/sessions")[1]["sessions"]

        assert mine["remote_address"] == f"local:{program.process.pid} push"
        assert mine["version"] == "3.1"
        assert mine["frames_sent"] == 0
        assert mine["commands_received"] > 0
        assert mine["devices"] == [watch.device_id]
        assert service.request("POST", f"/sessions/{mine['session_id']}/profile", {"name": "mine"})[0] == 200


def test_the_socket_is_for_its_owner_alone(service: RunningService) -> None:
    assert stat.S_IMODE((service.state_dir / "local.sock").stat().st_mode) == 0o600


def test_another_user_is_refused(service: RunningService) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    with ExitStack() as cleanup:
        # Folders of a test run may be closed to others: the program lies where everybody gets, and begins in the state directory.
        public = Path(cleanup.enter_context(TemporaryDirectory(dir="/tmp")))
        program = Path(shutil.copy(client_program(), public))
        public.chmod(0o755)
        for path, mode in ((service.state_dir, 0o755), (service.state_dir / "local.sock", 0o666)):
            cleanup.callback(path.chmod, stat.S_IMODE(path.stat().st_mode))
            path.chmod(mode)
        done = subprocess.run(
            [str(program), ".", "wait"],
            cwd=service.state_dir,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )

    assert "only user 0 and root may connect, and this is user 65534" in done.stdout


# ---------------------------------------------------------------- ways out


def test_a_client_that_is_killed_while_it_pushes_pushes_no_more(service: RunningService, watch: Watch) -> None:
    with pushing(service, watch) as program:
        program.kill()
        killed_ns = watch.time_ns

        assert watch.until(0) - killed_ns <= HELD_NS
    eventually(lambda: len(sessions(service)) == 1, "its session is gone", pause_s=0.01)


def test_a_client_that_is_killed_within_a_write_pushes_no_more(service: RunningService, watch: Watch) -> None:
    with Program(service.state_dir, "half", str(PUSH_N)) as program:
        assert program.word() == "half"
        program.kill()
        killed_ns = watch.time_ns

        assert watch.until(0) - killed_ns <= HELD_NS


def test_a_client_that_is_stopped_fades_and_goes_on_when_it_continues(service: RunningService, watch: Watch) -> None:
    with pushing(service, watch) as program:
        program.signal(signal.SIGSTOP)
        watch.until(0)
        assert len(sessions(service)) == 2

        program.signal(signal.SIGCONT)
        watch.until(PUSH_N)


def test_a_force_that_is_not_repeated_fades(service: RunningService, watch: Watch) -> None:
    with Program(service.state_dir, "once", str(PUSH_N)) as program:
        assert program.word() == "pushing"
        begun_ns = watch.time_ns

        assert watch.until(0) - begun_ns <= HELD_NS


def test_an_operator_disconnects_a_local_client(service: RunningService, watch: Watch) -> None:
    with pushing(service, watch) as program:
        (number,) = {*sessions(service)} - {watch.session_id}

        assert service.request("DELETE", f"/sessions/{number}")[0] == 200

        assert program.word() == "ended"
        watch.until(0)
        eventually(lambda: sessions(service) == [watch.session_id], "its session is gone", pause_s=0.01)


def test_stop_reaches_a_local_client_and_it_goes_on_when_the_stop_is_released(
    service: RunningService, watch: Watch
) -> None:
    with pushing(service, watch):
        assert service.request("POST", "/stop")[0] == 200
        stopped_tick = int(watch.states.state(watch.arm)[0])
        assert watch.z == 0
        eventually(lambda: watch.states.tick > stopped_tick + 400, "some ticks", pause_s=0.001)
        assert watch.z == 0

        assert service.request("DELETE", "/stop")[0] == 200
        watch.until(PUSH_N)


def test_the_service_stops_with_a_local_client() -> None:
    with (
        RunningService(simulate="arm", settings=UNFILTERED) as own,
        Watch(own) as watch,
        pushing(own, watch) as program,
    ):
        assert own.stop(signal.SIGTERM) == 0

        assert program.word() == "ended"
        assert watch.z == 0
        assert watch.states.session(watch.seat) == 0
        assert watch.line() == {"closed": "the service is stopping", "code": 1001}
        assert not (own.state_dir / "local.sock").exists()


def test_a_killed_service_starts_again_and_takes_clients() -> None:
    with RunningService(simulate="arm", settings=UNFILTERED) as own:
        with Watch(own) as watch, pushing(own, watch):
            own.kill()
            assert watch.line() is None
        assert (own.state_dir / "local.sock").exists()

        own.start()
        with Watch(own) as watch, pushing(own, watch):
            assert watch.z == PUSH_N


def test_without_the_setting_there_is_no_socket() -> None:
    with RunningService(simulate="arm", settings={"communication/local/enabled": "false"}) as own:
        assert not (own.state_dir / "local.sock").exists()


def test_a_state_directory_with_a_long_path_has_no_local_clients_and_the_service_runs(tmp_path: Path) -> None:
    state_dir = tmp_path / ("long" * 30)
    with RunningService(simulate="arm", state_dir=state_dir) as own:
        assert own.request("GET", "/sessions")[0] == 200
        assert "no local clients at" in own.log


def test_a_file_in_the_place_of_the_socket_is_left_alone_and_the_service_runs(tmp_path: Path) -> None:
    (tmp_path / "local.sock").write_text("mine", encoding="utf-8")
    with RunningService(simulate="arm", state_dir=tmp_path) as own:
        assert own.request("GET", "/sessions")[0] == 200
        assert "no local clients at" in own.log
    assert (tmp_path / "local.sock").read_text(encoding="utf-8") == "mine"


# ---------------------------------------------------------------- bad clients


def test_nan_is_refused_and_another_client_goes_on(service: RunningService, watch: Watch) -> None:
    with StreamingClients(service.ws, 1, force=1.0) as clients, EventClient(service.events) as events:
        watch.until(1.0)
        with Program(service.state_dir, "nan") as program:
            assert program.word() == "refused"
            event = events.wait_for_event("invalid-io-channel")
            assert "a number is not finite" in event["data"]["reason"]
            for _ in range(5):
                clients.wait_frames(20)
                assert watch.z == 1.0


def test_a_client_that_scribbles_over_its_page_harms_only_itself(service: RunningService, watch: Watch) -> None:
    with StreamingClients(service.ws, 1, force=1.0) as clients:
        watch.until(1.0)
        with Program(service.state_dir, "scribble") as program:
            assert program.word() == "scribbling"
            seen = set[float]()
            for _ in range(20):
                clients.wait_frames(10)
                seen.add(watch.z)
            # On leaving, the client has had one frame for each message.
            assert seen == {1.0}
            assert max(watch.states.answer(seat, watch.arm)[2] for seat in range(SEATS)) > 0


def test_a_client_cannot_shorten_or_empty_its_page_nor_write_the_states(service: RunningService) -> None:
    with Program(service.state_dir, "shrink") as program:
        assert program.word() == "kept"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"hello\n", "no JSON"),
        (b"[]\n", "the first line is a JSON object"),
        (b'{"hapticd_local": 0, "name": "old"}\n', "hapticd_local: this service speaks version 1"),
        (b'{"hapticd_local": 2, "name": "new"}\n', "hapticd_local: this service speaks version 1"),
        (b'{"hapticd_local": true, "name": "new"}\n', "hapticd_local: this service speaks version 1"),
        (b'{"name": "ancient"}\n', "hapticd_local: this service speaks version 1"),
        (b'{"hapticd_local": 1}\n', "name: a text of 1 to 64 printable characters"),
        (b'{"hapticd_local": 1, "name": "a\\u0007"}\n', "name: a text of 1 to 64 printable characters"),
        (b'{"hapticd_local": 1, "name": "a", "devices": "arm"}\n', 'devices: "all", or an array of device ids'),
        (b'{"hapticd_local": 1, "name": "a", "devices": [1]}\n', 'devices: "all", or an array of device ids'),
        (b'{"hapticd_local": 1, "name": "a", "commands": ["dance"]}\n', "commands: an array of the commands"),
        (b'{"hapticd_local": 1, "name": "a", "command": []}\n', "command: unknown: the line holds"),
        (b"x" * 5000, "a line has at most 4096 bytes"),
    ],
)
def test_a_wrong_first_line_is_answered_with_a_sentence(service: RunningService, line: bytes, error: str) -> None:
    assert answer_to(service.state_dir, line)["error"].startswith(error)


def test_a_client_that_says_nothing_is_closed_after_two_seconds(service: RunningService) -> None:
    with raw(service.state_dir) as connection, connection.makefile("rb") as lines:
        assert json.loads(lines.readline())["error"].startswith("nothing came for 2 s")
        assert lines.readline() == b""


def test_a_client_that_never_maps_its_memory_is_closed_and_its_session_ends(service: RunningService) -> None:
    with LocalConnection(service.state_dir) as client:
        assert client.session_id in sessions(service)
        assert client.line()["error"].startswith("nothing came for 2 s")
        eventually(lambda: sessions(service) == [], "its session is gone", pause_s=0.01)


def test_a_client_that_goes_on_talking_is_closed(service: RunningService, watch: Watch) -> None:
    with LocalConnection(service.state_dir).begin() as client:
        client.say({"more": 1})

        assert client.line() == {"error": "closed: nothing may be sent after the second line"}
        eventually(lambda: sessions(service) == [watch.session_id], "its session is gone", pause_s=0.01)


def test_a_client_that_leaves_within_the_handshake_leaves_nothing(service: RunningService) -> None:
    for _ in range(40):
        LocalConnection(service.state_dir).close()
        raw(service.state_dir).close()
    eventually(lambda: sessions(service) == [], "every session is gone", pause_s=0.01)
    with Watch(service) as watch:
        assert watch.seat < SEATS


def test_hundreds_of_connections_leave_a_streaming_client_and_a_pushing_one_alone(
    service: RunningService, watch: Watch
) -> None:
    with pushing(service, watch), StreamingClients(service.ws, 1, force=1.0) as clients:
        watch.until(3.0)
        before = clients.clients[0].frames
        refused = 0
        with ExitStack() as cleanup:
            many = [cleanup.enter_context(raw(service.state_dir)) for _ in range(300)]
            clients.wait_frames(50)
            for connection in many:
                with connection.makefile("rb") as lines:
                    refused += b"which is the most" in lines.readline()
        assert refused >= 300 - SEATS
        assert clients.clients[0].frames > before
        watch.until(3.0)


def test_session_limit_holds_for_local_clients() -> None:
    with (
        RunningService(simulate="arm", settings={"communication/max_sessions": 1}) as own,
        LocalConnection(own.state_dir) as first,
    ):
        first.begin()
        answer = answer_to(own.state_dir, b'{"hapticd_local": 1, "name": "second"}\n')

        assert "session" in answer["error"]
        assert sessions(own) == [first.session_id]


# ---------------------------------------------------------------- devices and positions


def test_a_client_commands_only_the_devices_and_commands_that_it_asked_for(
    service: RunningService, watch: Watch
) -> None:
    with (
        LocalConnection(service.state_dir, devices=["nobody"]).begin() as other,
        LocalConnection(service.state_dir, commands=["set_angular_torques"]).begin() as twister,
        LocalConnection(service.state_dir, devices=[watch.device_id], commands=["set_cursor_force"]).begin() as right,
    ):
        for client in (other, twister):
            client.page.force(watch.arm, watch.generation, 0.0, 0.0, 9.0)
        eventually(lambda: watch.states.answer(twister.seat, watch.arm)[1] == 1, "the record is taken", pause_s=0.001)
        assert watch.z == 0
        assert watch.states.answer(other.seat, watch.arm)[:3] == (0, 0, 0)

        right.page.force(watch.arm, watch.generation, 0.0, 0.0, 1.5)
        watch.until(1.5)


def test_one_of_a_local_client_and_a_streaming_one_holds_the_device(service: RunningService, watch: Watch) -> None:
    where = dict(zip("xyz", ARM_CENTRE, strict=True))
    hold = {"arm": [{"device_id": watch.device_id, "commands": {"set_cursor_position": {"position": where}}}]}
    with RawWebSocket(service.ws) as peer, EventClient(service.events) as events:
        streaming = peer.frame()["session_id"]
        with Program(service.state_dir, "hold", "0.135") as program:
            assert program.word() == "holding"
            (number,) = {*sessions(service)} - {watch.session_id, streaming}

            (fault,) = peer.ask(hold)["errors"]

            assert f"session {number} holds the position" in fault["reason"]
        eventually(lambda: "errors" not in peer.ask(hold), "the device is free", pause_s=0.005)
        with LocalConnection(service.state_dir).begin() as client:

            def refused() -> bool:
                assert "errors" not in peer.ask(hold)
                client.page.command(watch.arm, watch.generation, {POSITION: ARM_CENTRE, FORCE: (0.0, 0.0, 0.0)})
                return bool(events.received_events("device-busy", session_id=client.session_id, held_by=streaming))

            eventually(refused, "the local client is told", pause_s=0.002)
            assert watch.states.answer(client.seat, watch.arm)[4] in (0, FORCE)
