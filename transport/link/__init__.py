"""What moves the bytes: ports of the machine, and a driver for each protocol; implements actors/port/link_interface.py."""
