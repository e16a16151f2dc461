"""One file for each protocol: who answers, what it is told when it is opened, and what its slow half is."""
