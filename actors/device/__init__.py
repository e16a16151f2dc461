"""Devices: what each kind is, one actor for each device, and the manager that keeps the inventory."""
