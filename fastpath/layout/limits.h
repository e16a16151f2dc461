/* The one check of a number that a client sends: NaN is outside. */
#ifndef HAPTICD_LIMITS_H
#define HAPTICD_LIMITS_H

static inline int hd_within(double value, double largest) { return value >= -largest && value <= largest; }

#endif
