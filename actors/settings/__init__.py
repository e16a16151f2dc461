"""The settings and the ledger: what the service is told once and remembers over restarts."""
