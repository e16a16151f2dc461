"""The core: state, messages, pacing and rules, without I/O, threads or clocks of its own."""
