"""Sessions: what a client may configure, one actor for each session, and the manager that keeps the table."""
