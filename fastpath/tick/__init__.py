"""The control loop: its thread, the steps of one tick, arbitration, force filter and safety monitors."""
