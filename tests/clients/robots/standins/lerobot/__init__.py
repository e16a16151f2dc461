"""Shapes of LeRobot's interface for teleoperators; `make test-robots` has the real one."""
