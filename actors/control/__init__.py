"""The control loop as the actors see it: its rate, its timekeeper, its metrics."""
