"""Events: the hub that stamps, throttles and delivers them, their catalogue, and bounded queues for subscribers."""
