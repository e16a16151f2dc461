"""Driver of hAPI boards."""
