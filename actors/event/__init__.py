"""Events: what happened, said once, to everybody who listens and to nobody who does not."""
