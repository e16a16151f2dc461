"""Tuned default parameters of the oscillation filter, for the settings and for the wall trial."""

from fastpath.layout.force cimport OscillationParams


cdef inline void oscillation_defaults(OscillationParams *p) noexcept nogil:
    """Fill in the default parameters (W, s, N), tuned with simulated hands on walls (docs/force-path.md)."""
    p.power_on = 0.015
    p.power_off = 0.005
    p.tremor_factor = 2.7
    p.tremor_period = 0.031
    p.shortest = 0.00192
    p.longest = 0.0556
    p.forget = 0.0834
    p.crossing = 0.05
    p.sustained = 0.9
    p.votes = 5
    p.relapse_votes = 3
    p.floor_gain = 0.12
    p.attack = 0.004
    p.release = 0.030
    p.window = 0.100
    p.window_step = 0.040
    p.damping = 30
    p.guard = 30
    p.relapse_window = 3
    p.contact = 0.05
    p.contact_end = 0.300
    p.enabled = 1
