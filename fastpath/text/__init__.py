"""JSON text: frames, device states and numbers."""
