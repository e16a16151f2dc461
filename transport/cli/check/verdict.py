"""Judge a self-test: one verdict for each axis, joint, and for travel, buttons, link and what the device reports. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from transport.cli.check.measured import AXES, Link, Measured, Numbers
from transport.cli.text import clean

LEAST_MOVE_M: Final = 0.001  # a push that moves the device less than this has not moved it
LEAST_TURN_DEG: Final = 0.05  # encoders tell 0.0014 degrees
LEAST_TRAVEL_TURN_DEG: Final = 1.0
LEAST_TRAVEL_M: Final = 0.03
AGAINST: Final = -0.3  # correlation of torque and turn below which a joint turns against its motor
WITH: Final = 0.3
BAD_SHARE: Final = 0.001
LOST_SHARE: Final = 0.03
LATE_SHARE: Final = 0.01
LOW_BATTERY: Final = 0.2


class Grade(StrEnum):
    """How a part of the device did."""

    OK = "ok"
    UNSURE = "unsure"  # not seen, or not judged
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence about one part."""

    part: str
    grade: Grade
    sentence: str


def judge(found: Measured) -> list[Verdict]:
    """Return the verdicts of a self-test, in the order in which they are shown."""
    rules = (_axes, _joints, _travel, _buttons, _link, _reports)
    return [verdict for rule in rules for verdict in rule(found)]


def wrong_parts(found: Measured) -> int:
    """Return how many axes and joints did wrong under the pushes."""
    return sum(verdict.grade is Grade.WRONG for rule in (_axes, _joints) for verdict in rule(found))


def _axes(found: Measured) -> Iterator[Verdict]:
    if found.ran_away:
        yield Verdict(
            "motors", Grade.WRONG, "The device ran away under a gentle push; the rest of the pushes was left out."
        )
    if found.lost:
        yield Verdict("motors", Grade.WRONG, clean(found.lost))
    for axis, name in enumerate(AXES):
        pushes = [push for push in found.pushes if push.axis == axis and len(push.moved) > axis]
        if not pushes:
            continue
        along = sum(math.copysign(1.0, push.force) * push.moved[axis] for push in pushes) / len(pushes)
        said = f"pushed with {max(abs(push.force) for push in pushes):.1f} N, moved {1000 * along:+.1f} mm"
        if along <= -LEAST_MOVE_M:
            yield Verdict(
                f"axis {name}", Grade.WRONG, f"It moves against the force ({said}): a motor or an encoder is reversed."
            )
        elif along < LEAST_MOVE_M:
            yield Verdict(
                f"axis {name}",
                Grade.WRONG,
                f"It does not move ({said}): a motor is dead, an encoder stands still, or the handle is held fast.",
            )
        else:
            yield Verdict(f"axis {name}", Grade.OK, f"It follows the force ({said}).")


def _joints(found: Measured) -> Iterator[Verdict]:
    """Judge motor and encoder of each joint: did its angle change, and with its torque?"""
    count = min((len(push.turned) for push in found.pushes), default=0)
    if len({push.axis for push in found.pushes}) < len(AXES):
        return
    jacobian = relation([step.moved for step in found.steps], [step.turned for step in found.steps], count)
    for joint in range(count):
        name = f"joint a{joint}"
        turned = [push.turned[joint] for push in found.pushes]
        by_hand = found.travel.turned[joint] if found.travel and len(found.travel.turned) > joint else None
        if max(map(abs, turned)) < LEAST_TURN_DEG:
            yield Verdict(name, Grade.WRONG, _still(by_hand))
            continue
        torques = [push.force * jacobian[joint][push.axis] for push in found.pushes]
        agrees = correlation(torques, turned)
        if agrees <= AGAINST:
            yield Verdict(name, Grade.WRONG, "It turns against its torque: its motor or its encoder is reversed.")
        elif agrees < WITH:
            yield Verdict(
                name, Grade.UNSURE, "It moves, but not with its torque: another hand moved it, or its motor is weak."
            )
        else:
            yield Verdict(name, Grade.OK, "Motor and encoder turn the same way.")


def _still(by_hand: float | None) -> str:
    if by_hand is None:
        return "Its angle did not change: its motor is dead or its encoder stands still; --travel 10 tells which."
    if by_hand < LEAST_TRAVEL_TURN_DEG:
        return "Its angle changed neither under the pushes nor by hand: its encoder stands still."
    return f"It turned {by_hand:.0f} degrees by hand and not under the pushes: its motor is dead, or its cable."


def _travel(found: Measured) -> Iterator[Verdict]:
    travel = found.travel
    if travel is None:
        return
    if travel.jumps:
        yield Verdict("travel", Grade.WRONG, f"The position jumped {travel.jumps} times: look at encoders and cables.")
    spans = [high - low for low, high in zip(travel.low, travel.high, strict=True)]
    shown = ", ".join(f"{name} {1000 * span:.0f} mm" for name, span in zip(AXES, spans, strict=False))
    short = [name for name, span in zip(AXES, spans, strict=False) if span < LEAST_TRAVEL_M]
    if short:
        yield Verdict(
            "travel",
            Grade.WRONG,
            f"Along {', '.join(short)} it hardly moved ({shown}): move the handle, or it is blocked.",
        )
    elif not travel.jumps:
        yield Verdict("travel", Grade.OK, f"Range by hand: {shown}.")


def _buttons(found: Measured) -> Iterator[Verdict]:
    buttons = found.buttons
    if buttons is None or not buttons.names:
        return
    stuck = [clean(name) for name in buttons.names if name not in buttons.released]
    if stuck:
        yield Verdict("buttons", Grade.WRONG, f"{', '.join(stuck)}: pressed all the time, so stuck or held.")
    silent = [clean(name) for name in buttons.names if name not in buttons.pressed]
    if buttons.asked and silent:
        yield Verdict("buttons", Grade.WRONG, f"{', '.join(silent)}: never pressed, so not pressed or dead.")
    elif not buttons.asked and not stuck:
        yield Verdict("buttons", Grade.UNSURE, "None is stuck; --buttons 10 gives time to press each.")
    elif not stuck:
        yield Verdict("buttons", Grade.OK, f"{', '.join(map(clean, buttons.names))}: pressed and released.")


def _link(found: Measured) -> Iterator[Verdict]:
    link = found.link
    if link.received is None:
        yield Verdict("link", Grade.UNSURE, "It has no port that counts: simulated, or on USB.")
        return
    rate = link.received / link.seconds if link.seconds > 0 else 0.0
    said = f"{rate:.0f} packets/s, {link.bad:.0f} bad, {link.late:.0f} orders late, {link.errors:.0f} errors"
    fault = _link_fault(link, link.received)
    if fault:
        yield Verdict("link", Grade.WRONG, f"{fault}{said}.")
    elif link.late > LATE_SHARE * link.sent:
        # That is this machine's doing, not the device's.
        yield Verdict("link", Grade.UNSURE, f"Orders come late, run hapticd doctor: {said}.")
    else:
        yield Verdict("link", Grade.OK, f"{said}.")


def _link_fault(link: Link, received: float) -> str:
    if received == 0:
        return "No packet arrived: "
    if link.bad > BAD_SHARE * received:
        return "Packets arrive damaged, look at cable and supply: "
    if received < (1 - LOST_SHARE) * link.sent:
        return f"{100 * (1 - received / link.sent):.0f} % of the packets are lost, look at cable and hub: "
    if link.errors:
        return "Reads or writes failed: "
    return ""


def _reports(found: Measured) -> Iterator[Verdict]:
    if found.reports:
        yield Verdict("device", Grade.WRONG, f"It reports: {clean(found.reports)}")
    if found.status.get("power_supply") is False:
        yield Verdict("device", Grade.WRONG, "Its power supply is off or missing.")
    if found.status.get("calibrated") is False:
        yield Verdict("device", Grade.WRONG, f"It is not calibrated: hapticd calibrate {clean(found.device_id)}")
    if found.battery is not None and found.battery < LOW_BATTERY:
        yield Verdict("battery", Grade.WRONG, f"Charge {100 * found.battery:.0f} %: charge it.")


def relation(moved: Sequence[Numbers], turned: Sequence[Numbers], count: int) -> list[Numbers]:
    """Return for each of `count` joints the cursor's move per degree, m, by least squares; zeros for a joint that stood still."""
    none: list[Numbers] = [(0.0, 0.0, 0.0)] * count
    used = [joint for joint in range(count) if any(abs(one[joint]) > 1e-4 for one in turned)]
    if not used or len(moved) < len(used):
        return none
    import numpy as np

    angles = np.array([[one[joint] for joint in used] for one in turned])
    places = np.array([one[:3] for one in moved])
    found, *_ = np.linalg.lstsq(angles, places, rcond=1e-3)
    for row, joint in enumerate(used):
        none[joint] = tuple(map(float, found[row]))
    return none


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine between two lists of numbers, -1 to 1; 0 when one of them is all zero."""
    size = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / size if size > 0 else 0.0
