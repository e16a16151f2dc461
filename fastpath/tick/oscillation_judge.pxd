"""Judge of oscillations: says each 10 ms whether the motion of a device is fed by the force that is rendered.

Boosted trees over features of the last 60, 120 and 480 ms (`motion_window`, `oscillation_trees.h`) give the logarithm of the odds;
it is smoothed, and found where it passes the threshold that training chose (docs/force-path.md).
"""

from fastpath.layout.force cimport MotionWindow, OscillationJudge, OscillationParams
from fastpath.tick.motion_window cimport (
    FEATURES,
    FEATURES_OF_WINDOW,
    motion_begin,
    motion_features,
    motion_shares,
    motion_step,
)
from fastpath.tick.oscillation cimport Verdict

cdef extern from "tick/oscillation_trees.h" nogil:
    const double SCORE_FOUND "HD_SCORE_FOUND"
    # m/s rms over 120 ms: a device that moves less is still
    const double STILL_M_S "HD_STILL_M_S"
    const double SCORE_CLIP "HD_SCORE_CLIP"
    const double SCORE_SMOOTHING "HD_SCORE_SMOOTHING"
    double oscillation_score "hd_oscillation_score"(const double *features)

cdef enum:
    # of the power from which a half-cycle votes, what rms force times rms speed has to reach
    POWER_PERCENT = 45
    # of rms force times rms speed over all axes: an axis with less has no part in the oscillation
    AXIS_PERCENT = 10
    # hundredths of the log-odds from which votes may stand
    CONSENT = 150
    # hundredths of the log-odds, before smoothing, from which a first entry is sure
    SURE = 300
    # hundredths of the log-odds from which a contact oscillates again
    AGAIN = 50
    # what is damped persists above these hundredths of the log-odds, and with this power
    PERSISTS = -50
    PERSISTS_POWER_PERCENT = 20
    # percent of the filter's damping: a device that bears less is not helped by it
    WEAK_PERCENT = 25
    # ms after an interruption of the force, in which nothing is found soon a second time
    DISTRUST_MS = 1000


cdef inline void verdict_of(
    const OscillationJudge *j, const OscillationParams *p, bint played, double interrupted, int axis, double bears, Verdict *verdict,
) noexcept nogil:
    """Say what holds for an axis; while an effect is played beside the command (`played`), the votes alone decide.

    `interrupted`: s since no force reached the motors; `bears`: damping that the device bears besides (N.s/m). Where damping does little, or
    what goes on in spite of it would be found late, the gain is lowered at once.
    """
    verdict.found = not played and j.found != 0 and j.share[axis] > 1e-2 * AXIS_PERCENT
    verdict.persists = not played and j.persists != 0 and j.share[axis] > 1e-2 * AXIS_PERCENT
    verdict.sure = not played and j.latest > 1e-2 * SURE
    verdict.again = verdict.persists and j.score > 1e-2 * AGAIN
    verdict.agrees = played or j.score > 1e-2 * CONSENT
    verdict.fed = not played and j.score > 0
    verdict.bears = bears
    verdict.damps = not played and interrupted > 1e-3 * DISTRUST_MS and bears >= 1e-2 * WEAK_PERCENT * p.damping


cdef inline void judge_begin(OscillationJudge *j, MotionWindow *w) noexcept nogil:
    """Forget score and motion; the force that is held stays."""
    j.score = -SCORE_CLIP
    j.latest = -SCORE_CLIP
    j.found = 0
    j.persists = 0
    motion_begin(w)


cdef inline void judge_step(
    OscillationJudge *j, MotionWindow *w, const OscillationParams *p, const double *velocity, const double *position, double mass,
    double dt,
) noexcept nogil:
    """Take one tick, `dt` s after the last one: velocity (m/s), position (m), apparent mass (kg)."""
    cdef double seen[FEATURES]
    cdef double score = -SCORE_CLIP, power
    cdef const double *recent = seen + FEATURES_OF_WINDOW
    j.found = 0
    j.persists = 0
    if not motion_step(w, velocity, position, dt):
        return
    motion_features(w, mass, seen)
    if recent[0] > STILL_M_S:
        score = oscillation_score(seen)
        score = SCORE_CLIP if score > SCORE_CLIP else (-SCORE_CLIP if score < -SCORE_CLIP else score)
    j.latest = score
    j.score += SCORE_SMOOTHING * (score - j.score)
    power = recent[0] * recent[1]
    j.found = j.score > SCORE_FOUND and power >= 1e-2 * POWER_PERCENT * p.power_on
    j.persists = j.score > 1e-2 * PERSISTS and power >= 1e-2 * PERSISTS_POWER_PERCENT * p.power_on
    if j.persists:
        motion_shares(w, j.share)
