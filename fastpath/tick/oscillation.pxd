"""Oscillation filter: detects the limit cycle of a hand on a stiff wall, and lowers the gain that feeds it, for each axis.

Command u (N) and velocity v (m/s) pass the same 300 Hz low-pass and 8 Hz high-pass. A half-cycle ends where the filtered
force crosses +-0.05 N; its power is P = F V / 2 with the peaks of the last two. A half-cycle between 9 and 260 Hz that has enough
power, moves the encoder and does not decay votes for oscillation, any other against it. With enough votes and the judge's
consent, or by the judge alone, the axis is damped; when the oscillation goes on in spite of that, the gain drops to its floor. It
recovers through eight stages, each after a longer quiet window than the one before (docs/force-path.md).
"""

from libc.math cimport M_PI, exp, fabs, pow, sqrt, tan
from libc.stdint cimport int64_t

from fastpath.layout.force cimport OSCILLATION_FREE, OscillationAxis, OscillationParams, OscillationRate

cdef struct Verdict:
    # what holds for an axis in a tick. The judge says that it oscillates, that it is sure of it, that it does so again, that it does in spite of its damping, that
    # votes for it may stand, that it is fed; it may be damped before its gain is lowered
    bint found
    bint sure
    bint again
    bint persists
    bint agrees
    bint fed
    bint damps
    # N.s/m that the device bears besides
    double bears

cdef enum:
    MOST_VOTES = 8
    RELAPSE_STAGES = 3
    RETURN_CEILING = 6
    # ms: after a longer gap the quiet time of this stage and those above begins anew
    SHAKEN_MS = 4
    SHAKEN_STAGE = 4
    # percent of the damping: up to here it is renewed before the gain is lowered
    GUARD_WORN = 60
    # ms from the damping until the judge may say that the oscillation persists
    PATIENCE_MS = 500
    # ms from a first entry that is not sure: when it may be found again by less; until when it is damped whole, and how fast that fades then
    AGAIN_MS = 250
    TRIAL_MS = 150
    TRIAL_FADE_MS = 150


cdef inline void oscillation_rate(OscillationRate *r, const OscillationParams *p, double dt) noexcept nogil:
    """Compute the coefficients for ticks of dt seconds: one-pole low-pass 300 Hz, second-order Butterworth high-pass 8 Hz."""
    cdef double w = tan(M_PI * 8 * dt)
    cdef double n = 1 / (1 + sqrt(2.0) * w + w * w)
    cdef int stage
    r.dt = dt
    r.low = 1 - exp(-2 * M_PI * 300 * dt)
    r.b = n
    r.a1 = 2 * (w * w - 1) * n
    r.a2 = (1 - sqrt(2.0) * w + w * w) * n
    r.attack = 1 - exp(-dt / p.attack)
    r.release = 1 - exp(-dt / p.release)
    for stage in range(OSCILLATION_FREE + 1):
        r.gain[stage] = pow(p.floor_gain, 1 - <double>stage / OSCILLATION_FREE)


cdef inline void oscillation_resume(OscillationAxis *s, double u, double v) noexcept nogil:
    """Take command u (N) and velocity v (m/s) as the state of rest and clear votes and half-cycles; stage, ceiling and gain stay."""
    cdef int i
    s.force_low = u; s.speed_low = v
    for i in range(2):
        s.force_in[i] = u; s.force_out[i] = 0; s.speed_in[i] = v; s.speed_out[i] = 0
    s.sign = 0
    s.since = 0
    s.force_peak = 0; s.speed_peak = 0; s.force_before = 0; s.speed_before = 0
    s.low = 1e9; s.high = -1e9; s.low_before = 1e9; s.high_before = -1e9
    for i in range(4):
        s.peaks[i] = 0
    s.votes = 0
    s.power = 0


cdef inline void oscillation_begin(OscillationAxis *s) noexcept nogil:
    """Reset the filter of one axis to free."""
    oscillation_resume(s, 0, 0)
    s.stage = OSCILLATION_FREE
    s.ceiling = OSCILLATION_FREE
    s.quiet = 0
    s.since_free = 1e9
    s.released = 0
    s.gain = 1
    s.damping = 0
    s.guard = 0
    s.found = 0
    s.entries = 0
    s.ceilings = 0


cdef inline void oscillation_wait(OscillationAxis *s, const OscillationParams *p, const OscillationRate *r, double seconds) noexcept nogil:
    """Let seconds pass without a sample: times and gain go on, the half-cycle becomes longer."""
    cdef double target = r.gain[s.stage]
    s.since += seconds
    s.since_free += seconds
    s.quiet += seconds
    s.gain += (1 - exp(-seconds / (p.attack if target < s.gain else p.release))) * (target - s.gain)


cdef inline void oscillation_shaken(OscillationAxis *s) noexcept nogil:
    """Begin the quiet time of an upper stage anew after a gap: a contact whose gain is nearly back may have been shaken, and nobody looked."""
    if SHAKEN_STAGE <= s.stage < OSCILLATION_FREE:
        s.quiet = 0


cdef inline void lower_ceiling(OscillationAxis *s, int64_t stage) noexcept nogil:
    """Limit recovery to this stage, at least stage 1; count it when the limit was higher before."""
    if stage < 1:
        stage = 1
    if stage < s.ceiling:
        s.ceiling = stage
        s.ceilings += 1


cdef inline void enter(OscillationAxis *s, const OscillationParams *p, const Verdict *verdict) noexcept nogil:
    """Enter oscillation: an axis that is not damped, or hardly any more, is damped if that may come first; else from free to the floor,
    during recovery three stages down.

    Each relapse lowers the ceiling, and so does an oscillation that returns soon after the filter became free.
    """
    cdef bint damped = s.guard > 1e-2 * GUARD_WORN
    s.votes = 0
    s.quiet = 0
    if s.stage == 0:
        return
    s.guard = 1
    s.entries += 1
    s.found = 2 if s.found > 0 or verdict.sure else 1
    if s.stage == OSCILLATION_FREE and verdict.damps and not damped:
        return
    if s.stage < OSCILLATION_FREE:
        lower_ceiling(s, s.stage - 1)
        s.stage = s.stage - RELAPSE_STAGES if s.stage > RELAPSE_STAGES else 0
    else:
        if s.since_free <= p.relapse_window:
            lower_ceiling(s, RETURN_CEILING)
        s.stage = 0


cdef inline bint half_cycle(
    OscillationAxis *s, const OscillationParams *p, double encoder_step, int sign,
) noexcept nogil:
    """End a half-cycle: vote and keep its peaks; return whether its power is high enough to prolong the stage."""
    cdef double force = s.force_peak if s.force_peak > s.force_before else s.force_before
    cdef double speed = s.speed_peak if s.speed_peak > s.speed_before else s.speed_before
    cdef double power = 0.5 * force * speed, needed = p.power_on
    cdef double high = s.high if s.high > s.high_before else s.high_before
    cdef double low = s.low if s.low < s.low_before else s.low_before
    cdef double lasted = s.since
    cdef int i
    if lasted >= p.tremor_period:
        needed = p.power_on * p.tremor_factor
    if (p.shortest <= lasted <= p.longest and power >= needed and high - low >= 1.99 * encoder_step
            and force >= p.sustained * s.peaks[1] and force >= p.sustained * p.sustained * s.peaks[3]):
        if s.votes < MOST_VOTES:
            s.votes += 1
    elif s.votes > 0:
        s.votes -= 1
    s.power = power
    for i in range(3, 0, -1):
        s.peaks[i] = s.peaks[i - 1]
    s.peaks[0] = force
    s.force_before = s.force_peak; s.speed_before = s.speed_peak
    s.force_peak = 0; s.speed_peak = 0
    s.low_before = s.low; s.high_before = s.high
    s.low = 1e9; s.high = -1e9
    s.sign = sign
    s.since = 0
    return power >= p.power_off and lasted <= p.longest


cdef inline double oscillation_step(
    OscillationAxis *s, const OscillationParams *p, const OscillationRate *r,
    double u, double v, double x, double encoder_step, const Verdict *verdict,
) noexcept nogil:
    """Run one tick of one axis: command u (N), velocity v (m/s) and position x (m) in, the gain for u out.

    Votes need the judge's consent, except while the gain recovers and soon after; what the judge finds needs no votes.
    """
    cdef double y, z, target
    cdef int sign = 0, i
    cdef bint hot = False, enters
    s.force_low += r.low * (u - s.force_low)
    s.speed_low += r.low * (v - s.speed_low)
    y = r.b * (s.force_low - 2 * s.force_in[0] + s.force_in[1]) - r.a1 * s.force_out[0] - r.a2 * s.force_out[1]
    z = r.b * (s.speed_low - 2 * s.speed_in[0] + s.speed_in[1]) - r.a1 * s.speed_out[0] - r.a2 * s.speed_out[1]
    s.force_in[1] = s.force_in[0]; s.force_in[0] = s.force_low
    s.force_out[1] = s.force_out[0]; s.force_out[0] = y
    s.speed_in[1] = s.speed_in[0]; s.speed_in[0] = s.speed_low
    s.speed_out[1] = s.speed_out[0]; s.speed_out[0] = z
    s.since += r.dt
    s.since_free += r.dt
    if x > s.high:
        s.high = x
    if x < s.low:
        s.low = x
    if fabs(y) > s.force_peak:
        s.force_peak = fabs(y)
    if fabs(z) > s.speed_peak:
        s.speed_peak = fabs(z)
    if s.sign >= 0 and y < -p.crossing:
        sign = -1
    elif s.sign <= 0 and y > p.crossing:
        sign = 1
    if sign != 0:
        hot = half_cycle(s, p, encoder_step, sign)
    elif s.since > p.forget:
        s.votes = 0
        for i in range(4):
            s.peaks[i] = 0
        s.force_before = 0; s.speed_before = 0
    if s.stage == OSCILLATION_FREE:
        # `quiet` counts the time since the last entry, or since it came free.
        s.quiet += r.dt
        enters = verdict.found or (s.votes >= p.votes and (verdict.agrees or s.since_free <= p.relapse_window))
        enters |= s.found == 1 and verdict.again and s.quiet > 1e-3 * AGAIN_MS
        enters |= verdict.persists and s.guard > 1e-2 * GUARD_WORN and s.quiet > 1e-3 * PATIENCE_MS
    else:
        enters = verdict.found or s.votes >= p.relapse_votes
    if enters:
        enter(s, p, verdict)
    elif s.stage < OSCILLATION_FREE:
        s.quiet = 0 if hot or verdict.fed else s.quiet + r.dt
        if s.quiet > p.window + p.window_step * s.stage and s.stage < s.ceiling:
            s.stage += 1
            s.quiet = 0
            if s.stage == OSCILLATION_FREE:
                s.since_free = 0
    if fabs(u) < p.contact:
        s.released += r.dt
        if s.released > p.contact_end:
            s.ceiling = OSCILLATION_FREE
            if s.stage == OSCILLATION_FREE:
                s.guard = 0
                s.found = 0
            s.since_free = 1e9
    else:
        s.released = 0
    target = r.gain[s.stage]
    s.gain += (r.attack if target < s.gain else r.release) * (target - s.gain)
    if s.guard > 0 and s.stage == OSCILLATION_FREE:
        if s.found > 1:
            s.guard -= s.guard * r.dt / p.guard
        elif s.quiet > 1e-3 * TRIAL_MS:
            s.guard -= s.guard * r.dt / (1e-3 * TRIAL_FADE_MS)
    target = s.guard * (verdict.bears if verdict.bears < p.damping else p.damping)
    s.damping += (r.attack if target > s.damping else r.release) * (target - s.damping)
    if s.damping > verdict.bears:
        s.damping = verdict.bears
    return s.gain
