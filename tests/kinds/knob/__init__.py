"""A kind of device that is not shipped: one motorised axis of rotation. It shows what a new kind needs."""
