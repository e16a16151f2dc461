"""The formulas of the loop as Python functions, for tests and benchmarks alone."""
