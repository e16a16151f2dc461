"""What every actor stands on: messages, names, the typed ask, supervision, time, metrics and errors."""
