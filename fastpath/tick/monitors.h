/* Thresholds of the safety monitors and limits of effects (docs/force-path.md); in C because a .pxd file cannot define real constants. */

#ifndef HD_MONITORS_H
#define HD_MONITORS_H

static const double HD_BRAKE = 5.0; /* N.s/m */
static const double HD_BRAKE_ONSET = 0.002; /* s */
static const double HD_RUNAWAY = 3.0; /* m/s */
static const double HD_FAST = 1.5; /* m/s */
static const double HD_FAST_SECONDS = 0.010; /* s */
static const double HD_FAST_POWER = 1.0; /* W */
static const double HD_AT_REST = 0.05; /* m/s */
static const double HD_SAFE_SPEED = 0.3; /* m/s */
static const double HD_SAFE_SECONDS = 1.0; /* s */
static const double HD_RETURN_SECONDS = 1.0; /* s */
static const double HD_STALL_SPEED = 0.002; /* m/s */
static const double HD_STALL_SECONDS = 2.0; /* s */
static const double HD_STALL_SHARE = 0.6; /* of the torque limit, of the peak force */
static const double HD_STALL_END_SHARE = 0.4; /* of the torque limit, of the peak force */
static const double HD_STALL_CUTOFF_HZ = 5.0; /* Hz */
static const double HD_OBSERVER = 60.0; /* 1/s */
static const double HD_STOP_REACH = 0.0005; /* m */
static const double HD_STOP_SECONDS = 0.020; /* s */
static const double HD_OBJECT = 1.0; /* N */
static const double HD_OBJECT_HARD = 3.0; /* N */
static const double HD_HARD_SECONDS = 0.030; /* s */
static const double HD_CALM_SECONDS = 0.5; /* s */
static const double HD_DROP_RAMP = 0.050; /* s */
static const double HD_BACK_SECONDS = 0.200; /* s */
static const double HD_ZONE_STIFFNESS = 500.0; /* N/m */
static const double HD_ZONE_DAMPING = 5.0; /* N.s/m */
static const double HD_WARM = 80.0; /* degrees Celsius */
static const double HD_HOT = 100.0; /* degrees Celsius */
static const double HD_TOO_HOT = 110.0; /* degrees Celsius */
static const double HD_COOLER = 5.0; /* K */
static const double HD_EFFECT_FORCE = 2.0; /* N */
static const double HD_EFFECT_POWER = 0.010; /* W */
static const double HD_EFFECT_HZ = 40.0; /* Hz */

#endif
