"""Every way out of a block or loop leaves zero force: in virtual time, in which nothing fades by itself."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hapticd_client as haptics
from hapticd_client import (
    DeviceGone,
    FrameErrors,
    InvalidCommand,
    LoopTooSlow,
    Service,
    ServiceLost,
    SessionClosed,
    WrongInstance,
)
from hapticd_client.transports.blocking import BlockingChannel
from hapticd_client.transports.streams import StreamChannel
from tests.clients.python.hostile_server import HostileServer
from tests.support.clients.exchange import exchange
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

ForceOf = Callable[[], float]
TRANSPORTS = ["socket", "local"]


def url_of(stepped: InProcessService, transport: str) -> str:
    return stepped.ws if transport == "socket" else f"local:{stepped.local.path.parent}"


def connected(stepped: InProcessService, transport: str = "socket", **arguments: object) -> Service:
    given: dict[str, Any] = {"http": stepped.http, **arguments}
    with ticking(stepped, transport):
        service: Service = haptics.connect(url_of(stepped, transport), **given)
    return service


async def connected_aio(stepped: InProcessService, transport: str) -> haptics.aio.Service:
    with ticking(stepped, transport):
        return await haptics.aio.connect(url_of(stepped, transport), http=stepped.http)


@contextmanager
def ticking(stepped: InProcessService, transport: str) -> Generator[None]:
    """Let time go on while a local client connects: it waits for a tick."""
    if transport == "socket":
        yield
        return
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.001):
            stepped.step()

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture(autouse=True)
def nothing_is_left(stepped: InProcessService) -> Generator[None]:
    """No session, thread or descriptor is left behind."""
    threads, descriptors = threading.active_count(), open_descriptors()
    yield
    gc.collect()
    stepped.wait_for_sessions()
    # The service's own threads may take a moment on a busy machine.
    eventually(lambda: threading.active_count() <= threads, "no thread is left", pause_s=0.01)
    eventually(lambda: open_descriptors() <= descriptors, "descriptors are closed", pause_s=0.01)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def pushing(stepped: InProcessService, force: ForceOf, transport: str) -> Generator[Service]:
    """A service object whose force is in effect."""
    with connected(stepped, transport) as service:
        service.arm.force = 0, 0, 1
        service.update()
        service_sees(stepped, force, 1.0)
        yield service


def service_sees(stepped: InProcessService, force: ForceOf, wanted: float) -> None:
    """The service has read what was sent: a turn of its event loop later at most."""
    del stepped
    eventually(lambda: force() == wanted, f"{wanted} N", tries=12, pause_s=0)


class Interrupted(Exception):
    """Raised by a program of a user."""


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("error", [Interrupted, KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
def test_exception_in_the_block_leaves_zero(
    stepped: InProcessService, force: ForceOf, transport: str, error: type[BaseException]
) -> None:
    with pytest.raises(error), pushing(stepped, force, transport):
        raise error

    assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("error", [Interrupted, KeyboardInterrupt, SystemExit])
def test_exception_in_a_turn_leaves_zero(
    stepped: InProcessService, force: ForceOf, transport: str, error: type[BaseException]
) -> None:
    def run() -> None:
        with connected(stepped, transport) as service:
            for _ in service.loop(rate=1000):
                service.arm.force = 0, 0, 1
                if force() == 1:
                    raise error

    with pytest.raises(error):
        run()

    assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_break_out_of_a_loop_leaves_zero_before_the_block_ends(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with connected(stepped, transport) as service:
        for _ in service.loop(rate=1000):
            service.arm.force = 0, 0, 1
            if force() == 1:
                break
        service.update()
        assert force() == 0


def test_turn_that_assigns_nothing_releases(stepped: InProcessService, force: ForceOf) -> None:
    with pushing(stepped, force, "socket") as service:
        service.update()
        assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_closing_inside_a_loop_ends_it_with_zero(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with connected(stepped, transport) as service:
        for _ in service.loop(rate=1000):
            service.arm.force = 0, 0, 1
            if force() == 1:
                service.arm.force = 0, 0, 1
                service.close()
        assert service.status == "closed"
    assert force() == 0
    with pytest.raises(SessionClosed, match="connect again"):
        service.update()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_service_object_that_nobody_refers_to_leaves_zero(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    service = connected(stepped, transport)
    arm = service.arm
    arm.force = 0, 0, 1
    service.update()
    service_sees(stepped, force, 1.0)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del service

    assert [each.category for each in caught] == [ResourceWarning]
    eventually(lambda: force() == 0, "zero", pause_s=0.001)
    with pytest.raises(SessionClosed):
        _ = arm.trips()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_fault_of_a_message_is_raised_and_leaves_zero(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport) as service:
        service.arm.force = 0, 0, 2
        if transport == "socket":
            service.arm.commands["set_cursor_forces"] = {}
            with pytest.raises(FrameErrors, match="set_cursor_force"):
                service.update()
        else:
            service.arm.commands["set_contact"] = {}
            with pytest.raises(InvalidCommand, match="over a socket"):
                service.update()
        service_sees(stepped, force, 0.0)
        service.arm.force = 0, 0, 1
        service.update()
        service_sees(stepped, force, 1.0)


def test_number_that_is_none_is_raised_where_it_is_assigned(stepped: InProcessService, force: ForceOf) -> None:
    def run() -> None:
        with connected(stepped) as service:
            for turn in service.loop(rate=1000):
                service.arm.force = 0, 0, 1 if turn.number < 5 else float("nan")

    with pytest.raises(InvalidCommand, match="finite"):
        run()

    assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_body_that_takes_longer_than_the_commands_time_out_is_not_sent(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    """A disk that blocks, a debugger that halts: what was computed of an old state does not act."""
    seen: list[float] = []
    with connected(stepped, transport) as service:
        service._session.command_timeout_s = 0.0
        loop = service.loop(rate=1000)
        with pytest.warns(haptics.SlowLoopWarning):
            next(loop)
        for _ in loop:
            service.arm.force = 0, 0, 1
            seen.append(force())
            if len(seen) == 10:
                break
        assert service.loop_statistics.turns == 11
    assert seen == [0.0] * 10


def test_misses_in_a_row_end_the_loop_with_zero(stepped: InProcessService, force: ForceOf) -> None:
    def run() -> None:
        with connected(stepped) as service:
            for _ in service.loop(rate=1000, budget=1e-9, stop_after_misses=3):
                service.arm.force = 0, 0, 1

    with pytest.raises(LoopTooSlow, match="3 turns in a row"):
        run()

    assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_max_force_bounds_what_arrives(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with connected(stepped, transport) as service:
        for _ in service.loop(rate=1000, max_force=0.5):
            service.arm.force = 0, 0, 1000
            if force() > 0:
                assert force() == 0.5
                break


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_child_process_cannot_command_and_does_not_keep_the_session(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport) as service:
        told, tell = os.pipe()
        go, let_go = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
            child = os.fork()
        if child == 0:
            try:
                service.arm.force = 0, 0, 3
                service.update()
                answer = b"it went"
            except SessionClosed as error:
                answer = str(error).encode()
            os.write(tell, answer)
            service.close()
            os.close(let_go)
            os.read(go, 1)  # lives on while its parent leaves
            os._exit(0)
        assert b"forked" in os.read(told, 1000)
        assert force() == 1
    # The parent has left; the child still runs.
    assert force() == 0
    stepped.wait_for_sessions()
    os.close(let_go)
    os.waitpid(child, 0)
    for descriptor in (told, tell, go):
        os.close(descriptor)


def test_interrupt_half_way_through_an_exchange_leaves_zero(
    stepped: InProcessService, force: ForceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_channel: BlockingChannel) -> None:
        raise KeyboardInterrupt

    def run() -> None:
        with pushing(stepped, force, "socket") as service, monkeypatch.context() as patched:
            patched.setattr(BlockingChannel, "_read", interrupted)
            service.update()

    with pytest.raises(KeyboardInterrupt):
        run()

    eventually(lambda: force() == 0, "zero", pause_s=0.001)


def test_interrupt_that_the_program_catches_inside_the_block_leaves_zero_too(
    stepped: InProcessService, force: ForceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_channel: BlockingChannel) -> None:
        raise KeyboardInterrupt

    with pushing(stepped, force, "socket") as service:
        with monkeypatch.context() as patched:
            patched.setattr(BlockingChannel, "_read", interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(service.loop(rate=1000))
        number = service.session_id
        eventually(lambda: number not in stepped.bridge.channels, "the session has ended", pause_s=0.005)
        service_sees(stepped, force, 0)
        assert service.status == "lost"
        with pytest.raises(ServiceLost, match="reconnect"):
            service.update()


def test_asyncio_loop_that_is_cancelled_inside_the_block_leaves_zero_and_the_session_goes_on(
    stepped: InProcessService, force: ForceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_comes(_channel: StreamChannel) -> None:
        await asyncio.sleep(60)

    async def run() -> None:
        async with await connected_aio(stepped, "socket") as service:
            service.arm.force = 0, 0, 1
            await service.update()
            service_sees(stepped, force, 1)
            with monkeypatch.context() as patched:
                patched.setattr(StreamChannel, "_more", nothing_comes)
                turns = service.loop(rate=1000)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(turns), 0.01)
                del turns
            await asyncio.sleep(0)
            service_sees(stepped, force, 0)
            service.arm.force = 0, 0, 1
            await service.update()
            service_sees(stepped, force, 1)

    asyncio.run(run())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_lost_service_leaves_no_descriptor_for_the_collector(stepped: InProcessService, transport: str) -> None:
    gc.collect()
    before = open_descriptors()
    gc.disable()
    try:
        with connected(stepped, transport) as service:
            channel = stepped.bridge.channels[service.session_id]
            stepped.on_edge(lambda: channel.disconnect(1000, "by an operator"))

            def lost() -> bool:
                try:
                    service.update()
                except ServiceLost:
                    return True
                return False

            eventually(lost, "the service is lost", pause_s=0.001)
            eventually(lambda: open_descriptors() <= before, "descriptors are closed", pause_s=0.01)
    finally:
        gc.enable()


@pytest.mark.parametrize("asked", ["stop", "configuration"])
def test_http_of_another_service_than_that_of_the_shared_memory_is_not_asked(
    stepped: InProcessService, asked: str
) -> None:
    with (
        HostileServer(lambda _connection: None) as other,
        connected(stepped, "local", http=other.url) as service,
    ):
        service.arm.damping = 5
        ask = {"stop": service.stop, "configuration": service.update}[asked]
        with pytest.raises(WrongInstance, match="HAPTICD_HTTP"):
            ask()


def test_asyncio_asks_no_other_service_over_http_either(stepped: InProcessService) -> None:
    async def run(http: str) -> None:
        with ticking(stepped, "local"):
            service = await haptics.aio.connect(url_of(stepped, "local"), http=http)
        async with service:
            await service.stop()

    with HostileServer(lambda _connection: None) as other, pytest.raises(WrongInstance):
        asyncio.run(run(other.url))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_operator_who_disconnects_the_session_is_told_and_forces_are_zero(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport) as service:
        channel = stepped.bridge.channels[service.session_id]
        stepped.on_edge(lambda: channel.disconnect(1000, "by an operator"))
        assert force() == 0

        said: list[str] = []

        def lost() -> bool:
            service.arm.force = 0, 0, 1
            try:
                service.update()
            except ServiceLost as error:
                said.append(str(error))
            return bool(said)

        eventually(lost, "it is told", pause_s=0.001)
        assert "the session (" in said[0]
        assert service.status == "lost"
        assert force() == 0
        with pytest.raises(ServiceLost, match="reconnect"):
            service.update()

        with ticking(stepped, transport):
            service.reconnect()
        assert service.status == "returned"
        service.arm.force = 0, 0, 1
        service.update()
        assert force() == 0

        service.resume()
        service.arm.force = 0, 0, 1
        service.update()
        service_sees(stepped, force, 1.0)


def test_unplugged_device_ends_the_loop_and_pushes_again_only_after_resume(
    stepped: InProcessService, force: ForceOf
) -> None:
    with pushing(stepped, force, "socket") as service:
        arm = service.arm
        fault(stepped, "unplug")

        def gone() -> bool:
            stepped.wait(0.01)
            service.update()
            return not arm.present

        eventually(gone, "it is gone", pause_s=0.005)
        with pytest.raises(DeviceGone, match="A001 is unplugged"):
            _ = arm.position

        fault(stepped, "none")

        def back() -> bool:
            stepped.wait(0.01)
            service.update()
            return arm.ready

        eventually(back, "it is back", pause_s=0.005)
        assert arm.withheld
        arm.force = 0, 0, 1
        service.update()
        assert force() == 0
        arm.resume()
        arm.force = 0, 0, 1
        service.update()
        service_sees(stepped, force, 1.0)


def fault(stepped: InProcessService, name: str) -> None:
    """Unplug the simulated arm, or plug it in again."""
    assert exchange(stepped.http, "POST", "/simulation/arm/A001", {"fault": name}).status == 200


# ---------------------------------------------------------------- asyncio


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("error", [Interrupted, KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_exception_in_an_async_turn_leaves_zero(
    stepped: InProcessService, force: ForceOf, transport: str, error: type[BaseException]
) -> None:
    async def run() -> None:
        async with await connected_aio(stepped, transport) as service:
            async for _ in service.loop(rate=1000):
                service.arm.force = 0, 0, 1
                if force() == 1:
                    raise error

    with pytest.raises(error):
        asyncio.run(run())

    assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_cancelled_task_leaves_zero(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    async def push(begun: asyncio.Event) -> None:
        async with await connected_aio(stepped, transport) as service:
            async for _ in service.loop(rate=1000):
                service.arm.force = 0, 0, 1
                if force() == 1:
                    begun.set()

    async def run() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(push(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())

    eventually(lambda: force() == 0, "zero", pause_s=0.001)


def test_break_out_of_an_async_loop_and_an_update_leave_zero(stepped: InProcessService, force: ForceOf) -> None:
    async def run() -> None:
        async with haptics.aio.connect(stepped.ws) as service:
            async for _ in service.loop(rate=1000):
                service.arm.force = 0, 0, 1
                if force() == 1:
                    break
            await service.update()
            assert force() == 0

    asyncio.run(run())


def test_async_service_object_that_nobody_refers_to_leaves_zero(stepped: InProcessService, force: ForceOf) -> None:
    async def run() -> None:
        service = await haptics.aio.connect(stepped.ws)
        service.arm.force = 0, 0, 1
        await service.update()
        service_sees(stepped, force, 1.0)
        with pytest.warns(ResourceWarning):
            del service
        await asyncio.sleep(0)

    asyncio.run(run())

    eventually(lambda: force() == 0, "zero", pause_s=0.001)
