"""What adds words to the wire without being part of the core schema: the contract of a module, and the modules that come along."""
