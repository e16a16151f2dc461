"""openlink."""
