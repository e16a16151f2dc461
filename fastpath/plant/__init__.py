"""Simulated devices: dynamics of the mechanism and of the hand that holds it."""
