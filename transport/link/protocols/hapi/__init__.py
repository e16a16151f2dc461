"""hapi."""
