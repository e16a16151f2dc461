"""Signed distances of navigation shapes for Python: validation and tests use the same C as the loop."""

from fastpath.layout.navigation cimport Shape
from fastpath.navigation.signed_distance cimport sdf
from fastpath.navigation.validation cimport fill_shape


cdef class Solid:
    """One primitive in its shape space, from a BubbleShape. Raise ValueError for parameters that form no shape."""

    cdef Shape shape

    def __cinit__(self, wanted not None):
        fill_shape(&self.shape, wanted.primitive, dict(wanted.parameters))

    def distance(self, p) -> float:
        """Return the distance from the surface, m, negative inside."""
        cdef double point[3]
        cdef double gradient[3]
        point[0], point[1], point[2] = p
        return sdf(&self.shape, point, gradient)

    def gradient(self, p) -> tuple[float, float, float]:
        """Return the gradient of the distance, a unit vector."""
        cdef double point[3]
        cdef double gradient[3]
        point[0], point[1], point[2] = p
        sdf(&self.shape, point, gradient)
        return gradient[0], gradient[1], gradient[2]
