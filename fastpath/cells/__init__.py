"""Lock-free cells between threads: triple buffer, seqlock and message ring."""
