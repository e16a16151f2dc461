"""Settings and ledger: stored values of the service, their catalogue, and the state directory."""
