"""The shared memory and its handles: Runtime owns it, Writer commands one device, Reader sees one device."""
