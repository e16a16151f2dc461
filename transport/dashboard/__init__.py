"""The dashboard: its static files and the headers that they are served with."""
