"""Which session holds a device's position: the first that commands one, until it stops, times out or closes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fastpath.arena.access import Writer
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import Command
from transport.session.position_holders import PositionHolders

# bits of a record's commands
POSITION = 1 << Command.COMMAND_POSITION
ANGLE = 1 << Command.COMMAND_ANGLE
MS = 1_000_000
TIMEOUT = 50 * MS


class PositionHolderRig:
    """Devices and sessions on a stepping loop, and who holds what."""

    def __init__(self) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        self.holders = PositionHolders()
        self._writers: dict[tuple[int, str], Writer] = {}

    def writer(self, session_id: int, device_id: str = "A") -> Writer:
        key = (session_id, device_id)
        if key not in self._writers:
            session = self.runtime.lease_session(str(session_id))
            self._writers[key] = self.runtime.writer(session, self.runtime.lease_device(device_id))
        return self._writers[key]

    def claim(self, session_id: int, device_id: str = "A") -> int | None:
        """Ask for the device; a position is set when it is given."""
        writer = self.writer(session_id, device_id)
        writer.begin()
        holder = self.holders.claim(device_id, session_id, writer, self.runtime.now_ns(), TIMEOUT)
        if holder is None:
            writer.position(0, 0, 0)
        writer.publish()
        return holder

    def release(self, session_id: int, device_id: str = "A") -> None:
        writer = self.writer(session_id, device_id)
        writer.begin()
        writer.publish()

    def wait(self, ms: float) -> None:
        self.runtime.step(round(ms * 4))


def test_first_claim_holds() -> None:
    rig = PositionHolderRig()

    assert rig.claim(1) is None
    assert rig.claim(2) == 1
    assert rig.claim(1) is None
    assert rig.claim(2) == 1


def test_holder_may_claim_again_in_the_same_message() -> None:
    rig = PositionHolderRig()
    rig.claim(1)

    assert rig.holders.claim("A", 1, rig.writer(1), rig.runtime.now_ns(), TIMEOUT) is None


def test_devices_are_held_independently() -> None:
    rig = PositionHolderRig()

    assert rig.claim(1, "A") is None
    assert rig.claim(2, "B") is None
    assert rig.claim(1, "B") == 2
    assert rig.claim(2, "A") == 1


def test_held_angle_holds_as_a_position() -> None:
    rig = PositionHolderRig()
    assert rig.claim(1) is None
    writer = rig.writer(1)
    writer.begin()
    writer.angle(1, 2, 3)
    writer.publish()

    assert writer.commands == ANGLE
    assert rig.claim(2) == 1


def test_omitted_position_releases_the_device() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    rig.release(1)

    assert rig.claim(2) is None
    assert rig.claim(1) == 2


def test_force_does_not_hold() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    writer = rig.writer(1)
    writer.begin()
    writer.force(1, 2, 3)
    writer.publish()

    assert rig.claim(2) is None


def test_silent_holder_holds_until_the_timeout() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    rig.wait(50)
    assert rig.claim(2) == 1

    rig.wait(0.25)
    assert rig.claim(2) is None
    assert rig.claim(1) == 2


def test_late_holder_keeps_an_unclaimed_device() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    rig.wait(500)

    assert rig.claim(1) is None
    assert rig.claim(2) == 1


def test_closed_session_releases_all_devices() -> None:
    rig = PositionHolderRig()
    rig.claim(1, "A")
    rig.claim(1, "B")
    rig.claim(2, "C")

    rig.holders.forget(1)

    assert rig.claim(3, "A") is None
    assert rig.claim(3, "B") is None
    assert rig.claim(3, "C") == 2


def test_revoked_writer_holds_nothing() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    rig.writer(1).revoke()
    rig.writer(1).position(0, 0, 0)

    assert rig.claim(2) is None


def test_view_change_releases_a_position() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    writer = rig.writer(1)
    writer.set_basis((0, 2, 1), (1, 1, 1))
    writer.publish(refresh=False)

    assert rig.claim(2) is None


def test_workspace_change_keeps_a_position() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    writer = rig.writer(1)
    writer.set_workspace((1, 2, 3), (1, 0, 0, 0), (2, 2, 2))
    writer.publish(refresh=False)

    assert rig.claim(2) == 1


def test_publishing_without_refresh_does_not_prolong_it() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    rig.wait(49)
    rig.writer(1).publish(refresh=False)
    rig.wait(2)

    assert rig.claim(2) is None


@given(
    st.lists(
        st.tuples(st.sampled_from(["claim", "release", "wait", "forget"]), st.integers(1, 3), st.sampled_from("AB")),
        max_size=40,
    )
)
def test_device_never_has_two_holders(steps: list[tuple[str, int, str]]) -> None:
    rig = PositionHolderRig()

    for step, session_id, device_id in steps:
        if step == "claim":
            holder = rig.claim(session_id, device_id)
            assert holder != session_id
        elif step == "release":
            rig.release(session_id, device_id)
        elif step == "forget":
            rig.release(session_id, "A")
            rig.release(session_id, "B")
            rig.holders.forget(session_id)
        else:
            rig.wait(17)
        for device in "AB":
            now_ns = rig.runtime.now_ns()
            writers = [rig.writer(session, device) for session in (1, 2, 3)]
            held = [w for w in writers if w.commands & POSITION and now_ns - w.command_ns <= TIMEOUT]
            assert len(held) <= 1


class LateHolder:
    """A lock whose holder is in the middle of a message: what it holds is whole once the lock is free."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> None:
        self._writer.position(0, 0, 0)

    def __exit__(self, *_caught: object) -> None:
        pass


def test_holder_whose_message_is_applied_at_the_moment_keeps_the_device() -> None:
    rig = PositionHolderRig()
    rig.claim(1)
    one = rig.writer(1)
    rig.holders.claim("A", 1, one, rig.runtime.now_ns(), TIMEOUT, LateHolder(one))
    one.begin()

    assert rig.holders.claim("A", 2, rig.writer(2), rig.runtime.now_ns(), TIMEOUT) == 1
