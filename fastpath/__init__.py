"""The realtime floor: arena and cells, the control loop, and every formula, in C; it imports nothing else of the service."""
