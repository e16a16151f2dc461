"""The shared memory and its handles: Runtime owns it, Writer commands one device, Reader reads one device's state."""
