"""Texts that sessions share: always those that each would have written by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from fastpath.arena.access import Writer
from fastpath.text.encoder import FrameEncoder, SharedTexts
from tests.unit.fastpath.text.frame_rig import FrameRig

Vector: TypeAlias = tuple[float, float, float]
Space: TypeAlias = tuple[Vector, tuple[float, float, float, float], Vector]

IDENTITY: Space = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
ARM, GRIP = "049D", "16F2"
# Changes of what a session sees, by number: rotations and offsets of its workspace.
SPACES: list[Space] = [
    IDENTITY,
    ((0.1, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    ((0.0, 0.0, 0.0), (0.6, 0.0, 0.8, 0.0), (1.0, 1.0, 1.0)),
    ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (2.0, 2.0, 2.0)),
    ((0.0, 0.1, 0.0), (0.5, 0.5, -0.5, 0.5), (1.0, 1.0, 1.0)),
    ((0.0, 0.1, 0.3), (0.5, 0.5, -0.5, 0.5), (1.0, 3.0, 1.0)),
]
FORMATS: list[dict[str, bool]] = [{}, {"status_safety": True}, {"explicit_fields": True}, {"timestamps": False}]


class Sessions:
    """Sessions on an arm and a wireless grip, each with its own encoder, and the texts that they share."""

    def __init__(self, count: int, format_of: Callable[[int], int] = lambda _: 0) -> None:
        self.rig = FrameRig()
        self.shared = SharedTexts()
        self.writers: list[Writer] = []
        self.encoders: list[FrameEncoder] = []
        for at in range(count):
            session = self.rig.runtime.lease_session(f"s{at}")
            arm, grip = (self.rig.runtime.writer(session, self.rig.leases[name]) for name in (ARM, GRIP))
            self.writers.append(arm)
            groups = [("arm", [self.rig.entry(ARM, arm)]), ("grip", [self.rig.entry(GRIP, grip)])]
            version = 30 if format_of(at) == len(FORMATS) else 31
            options = {} if version == 30 else FORMATS[format_of(at)]
            self.encoders.append(FrameEncoder(at + 1, groups, version=version, **options))
        self.rig.runtime.step(3)

    def check(self, at: int) -> None:
        """A session's frame with shared texts is its frame without them."""
        assert self.encoders[at].encode(shared=self.shared) == self.encoders[at].encode()


def test_sessions_in_one_space_write_each_state_once() -> None:
    sessions = Sessions(8)

    for at in range(8):
        sessions.check(at)
    assert sessions.shared.taken == 2 * 7
    sessions.rig.runtime.step(1)
    sessions.check(0)
    assert sessions.shared.taken == 2 * 7
    sessions.check(1)
    assert sessions.shared.taken == 2 * 8


def test_session_in_another_space_or_format_takes_no_other_text() -> None:
    sessions = Sessions(5, lambda at: at)
    sessions.writers[0].set_workspace(*SPACES[2])

    for at in range(5):
        sessions.check(at)
    # The grip's text differs by explicit fields and by the form of v3.0 only.
    assert sessions.encoders[0].encode() != sessions.encoders[1].encode()


def test_who_commands_the_device_sees_it_free_and_the_others_in_use() -> None:
    sessions = Sessions(3)
    sessions.writers[0].begin()
    sessions.writers[0].force(1, 0, 0)
    sessions.writers[0].publish()
    sessions.rig.runtime.step(2)

    for _ in range(2):
        for at in range(3):
            sessions.check(at)
    assert b'"in_use":false' in sessions.encoders[0].encode(shared=sessions.shared)
    assert b'"in_use":true' in sessions.encoders[1].encode(shared=sessions.shared)


def test_more_spaces_than_are_kept_are_written_by_each() -> None:
    sessions = Sessions(len(SPACES))
    for writer, space in zip(sessions.writers, SPACES, strict=True):
        writer.set_workspace(*space)

    for _ in range(3):
        for at in range(len(SPACES)):
            sessions.check(at)
        sessions.rig.runtime.step(1)


def test_numbers_that_have_no_text_are_counted_for_each_frame() -> None:
    sessions = Sessions(2)
    for writer in sessions.writers:
        writer.set_workspace((0, 0, 0), (1, 0, 0, 0), (1e300, 1, 1))

    for encoder in sessions.encoders:
        assert b"null" in encoder.encode(shared=sessions.shared)
    assert sessions.shared.taken > 0
    assert sessions.encoders[0].nulls == sessions.encoders[1].nulls > 0


def step(sessions: Sessions, ticks: int) -> None:
    sessions.rig.runtime.step(ticks)


def use_space(sessions: Sessions, at: int, space: Space, *, mount: bool) -> None:
    writer = sessions.writers[at]
    (writer.set_mount if mount else writer.set_workspace)(*space)


def command(sessions: Sessions, at: int, newton: float | None) -> None:
    writer = sessions.writers[at]
    writer.begin()
    if newton is not None:
        writer.force(newton, 0, 0)
    writer.publish()


def accept(sessions: Sessions, *, accepts: bool) -> None:
    sessions.rig.publish(ARM, accepts_commands=accepts)


NUMBERS = st.integers(0, 3)
CHANGES = st.lists(
    st.one_of(
        st.builds(partial, st.just(step), ticks=st.integers(1, 3)),
        st.builds(partial, st.just(use_space), at=NUMBERS, space=st.sampled_from(SPACES), mount=st.booleans()),
        st.builds(partial, st.just(command), at=NUMBERS, newton=st.none() | st.floats(-5, 5)),
        st.builds(partial, st.just(accept), accepts=st.booleans()),
    ),
    max_size=40,
)


@settings(max_examples=100, deadline=None)
@given(CHANGES, st.lists(st.integers(0, len(FORMATS)), min_size=4, max_size=4))
def test_shared_texts_are_those_that_each_would_write(
    changes: list[Callable[[Sessions], None]], formats: list[int]
) -> None:
    sessions = Sessions(4, lambda at: formats[at])
    for change in changes:
        change(sessions)
        for at in range(4):
            sessions.check(at)
