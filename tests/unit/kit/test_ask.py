"""`ask` from the event loop: replies, errors, time-outs."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Coroutine
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.ask import ask_async, ask_blocking
from actors.kit.clock import ManualClock
from actors.kit.errors import Busy, NoSuchActor
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import TIMEOUT_S, Divide, Hold, Kept, Note, Raise, counted, end_of, held, kept_by


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, TIMEOUT_S))


def test_reply_is_returned(context: Context, start: Start) -> None:
    start()
    assert ask_blocking(context.directory, "keeper", Divide(1, 4)) == 0.25

    async def scenario() -> None:
        assert await ask_async(context.directory, "keeper", Divide(1, 4)) == 0.25

    run(scenario())


def test_the_future_belongs_to_the_running_loop_and_completes_on_its_thread(context: Context, start: Start) -> None:
    start()

    async def scenario() -> None:
        threads: list[threading.Thread] = []
        future = ask_async(context.directory, "keeper", Kept())
        future.add_done_callback(lambda _: threads.append(threading.current_thread()))
        await future
        assert future.get_loop() is asyncio.get_running_loop()
        assert threads == [threading.current_thread()]

    run(scenario())


def test_error_of_the_handler_is_raised(context: Context, start: Start) -> None:
    start()
    with pytest.raises(ZeroDivisionError):
        ask_blocking(context.directory, "keeper", Divide(1, 0))

    async def scenario() -> None:
        with pytest.raises(ZeroDivisionError):
            await ask_async(context.directory, "keeper", Divide(1, 0))
        with pytest.raises(RuntimeError, match="StopIteration"):
            await ask_async(context.directory, "keeper", Raise(StopIteration(1)))

    run(scenario())


def test_ask_of_a_missing_actor_fails(context: Context) -> None:
    with pytest.raises(NoSuchActor, match='"nobody"'):
        ask_blocking(context.directory, "nobody", Kept())

    async def scenario() -> None:
        future = ask_async(context.directory, "nobody", Kept())
        with pytest.raises(NoSuchActor, match='"nobody"'):
            await future

    run(scenario())


def test_crashed_actor_with_a_registered_name_is_busy(context: Context, start: Start) -> None:
    ref = start()
    ref.tell(Raise(ValueError("broken")))
    end_of(ref)
    with pytest.raises(Busy, match="started again"):
        ask_blocking(context.directory, "keeper", Kept())
    assert counted(context, "hapticd_busy_answers_total", actor="keeper") == 1


def test_request_timeout_is_busy_and_nothing_is_applied(context: Context, start: Start) -> None:
    ref = start()
    late = Hold()
    with held(ref), pytest.raises(Busy, match=r"within 0\.01 s"):
        ask_blocking(context.directory, "keeper", late, timeout_s=0.01)
    kept_by(context, "keeper")
    assert not late.entered.is_set()

    async def scenario() -> None:
        with held(ref), pytest.raises(Busy, match=r"within 0\.01 s"):
            await ask_async(context.directory, "keeper", late, timeout_s=0.01)

    run(scenario())
    kept_by(context, "keeper")
    assert not late.entered.is_set()
    assert counted(context, "hapticd_busy_answers_total", actor="keeper") == 2


def test_late_actor_drops_the_request_and_logs_it(context: Context, start: Start, clock: ManualClock) -> None:
    ref = start()
    late, in_time = Hold(), Hold()
    in_time.release.set()

    async def scenario() -> None:
        with held(ref):
            too_late = ask_async(context.directory, "keeper", late, timeout_s=TIMEOUT_S)
            just = ask_async(context.directory, "keeper", in_time, timeout_s=TIMEOUT_S + 0.001)
            clock.advance(TIMEOUT_S)
        with pytest.raises(Busy, match="did not apply it"):
            await too_late
        await just

    run(scenario())
    assert not late.entered.is_set()
    assert in_time.entered.is_set()


def test_a_cancelled_ask_is_not_applied(context: Context, start: Start) -> None:
    ref = start()
    unwanted = Hold()

    async def scenario() -> None:
        with held(ref):
            ask_async(context.directory, "keeper", unwanted).cancel()

    run(scenario())
    kept_by(context, "keeper")
    assert not unwanted.entered.is_set()


def test_blocked_actor_does_not_block_the_event_loop(context: Context, start: Start) -> None:
    start()
    hold = Hold()

    async def scenario() -> None:
        future = ask_async(context.directory, "keeper", hold, timeout_s=TIMEOUT_S)
        assert await asyncio.to_thread(hold.entered.wait, TIMEOUT_S)
        ran = 0
        loop: Any = IOLoop.current()
        done = asyncio.Event()

        def turn() -> None:
            nonlocal ran
            ran += 1
            if ran == 1_000:
                done.set()
            else:
                loop.add_callback(turn)

        turn()
        await done.wait()
        assert ran == 1_000
        assert not future.done()
        hold.release.set()
        await future

    run(scenario())


@pytest.mark.parametrize("ask", [ask_async, ask_blocking])
def test_ask_from_an_actor_is_refused(start: Start, ask: Any) -> None:
    class Asker(ServiceActor):
        @handles(Note)
        def ask_somebody(self, _message: Note) -> None:
            ask(self.context.directory, "keeper", Kept())

    start()
    asker = start("asker", Asker)
    asker.tell(Note(1))
    error = end_of(asker)
    assert isinstance(error, RuntimeError)
    assert str(error) == "actors never ask: tell the other actor and handle its answer as a message"


def test_answer_after_the_loop_closed_is_ignored(context: Context, start: Start) -> None:
    ref = start()
    hold = Hold()
    loop = asyncio.new_event_loop()

    async def leave() -> None:
        ask_async(context.directory, "keeper", hold)
        assert hold.entered.wait(TIMEOUT_S)

    loop.run_until_complete(leave())
    loop.close()
    hold.release.set()
    assert kept_by(context, "keeper") == ()
    assert ref.is_alive()
    gc.collect()


def test_an_answered_ask_leaves_no_timer_behind(context: Context, start: Start) -> None:
    start()

    async def scenario() -> None:
        await ask_async(context.directory, "keeper", Kept(), timeout_s=1_000)
        with pytest.raises(ZeroDivisionError):
            await ask_async(context.directory, "keeper", Divide(1, 0), timeout_s=1_000)
        loop: Any = asyncio.get_running_loop()
        assert all(timer.cancelled() for timer in loop._scheduled)

    asyncio.run(scenario())


def test_concurrent_requests_get_their_own_answers(context: Context, start: Start) -> None:
    start()

    async def scenario() -> None:
        futures = [ask_async(context.directory, "keeper", Divide(number, 1)) for number in range(500)]
        assert await asyncio.gather(*futures) == list(range(500))

    run(scenario())
    assert counted(context, "hapticd_busy_answers_total", actor="keeper") == 0
