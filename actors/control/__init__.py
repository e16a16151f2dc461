"""Control of the realtime loop: its rate, timekeeper thread, state watches and metrics."""
