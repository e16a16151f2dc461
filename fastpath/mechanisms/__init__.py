"""Kinematics of each mechanism: joint angles to cursor and back, Jacobian, force and torque maps."""
