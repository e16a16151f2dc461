/* Thresholds of the optional monitors (docs/force-path.md, "Optional monitors"); in C because a .pxd file cannot define real constants. */

#ifndef HD_OPTIONAL_MONITORS_H
#define HD_OPTIONAL_MONITORS_H

static const double HD_POWER_CUTOFF_HZ = 100.0; /* Hz */
static const double HD_MOST_TURN = 45.0; /* degrees in a tick */
static const double HD_MOST_WAY = 0.1; /* m in a tick */
static const double HD_HAND_DAMPING = 5.0; /* N.s/m */
static const double HD_STIFFNESS_CUTOFF_HZ = 1.0; /* Hz */
static const double HD_STIFFNESS_MOTION = 0.00003; /* m rms */
static const double HD_STIFFNESS_STEPS = 4.0; /* encoder steps rms */
static const double HD_STIFFNESS_FORCE = 0.1; /* N rms */
static const double HD_STIFFNESS_FIT = 0.8; /* of the variance of the force */
static const double HD_STIFF_SECONDS = 0.1; /* s */
static const double HD_STIFF_AGAIN = 10.0; /* s */
static const double HD_STOP_BRAKE_SECONDS = 0.5; /* s */
static const double HD_ENABLE_RAMP = 0.05; /* s */
static const double HD_ENABLE_STALE = 0.1; /* s */

#endif
