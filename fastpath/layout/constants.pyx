"""Constants of the shared structs for Python: the `cpdef` enumerations of `constants.pxd`, which Cython adds to this module."""
