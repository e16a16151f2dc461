"""Driver of boards that speak the open link protocol."""
