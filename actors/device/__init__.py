"""Devices: one actor per device, the manager of the inventory, configuration, simulation and the stop switch."""
