"""Calls to the operating system: real-time threads, locked memory, clock, serial port descriptors."""
