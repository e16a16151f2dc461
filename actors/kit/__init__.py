"""Base of all actors: messages, directory, requests, supervision, time, metrics and errors."""
