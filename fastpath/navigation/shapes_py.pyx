"""Signed distances of navigation shapes for Python: validation and tests use the same C as the loop."""

from fastpath.layout.navigation cimport Shape
from fastpath.navigation.signed_distance cimport sdf
from fastpath.navigation.validation cimport fill_shape


cdef class Solid:
    """One primitive about the origin of its shape space, made of a BubbleShape. ValueError when it is no shape."""

    cdef Shape shape

    def __cinit__(self, wanted not None):
        fill_shape(&self.shape, wanted.primitive, dict(wanted.parameters))

    def distance(self, p) -> float:
        """m from the surface, negative inside."""
        cdef double point[3]
        cdef double gradient[3]
        point[0], point[1], point[2] = p
        return sdf(&self.shape, point, gradient)

    def gradient(self, p) -> tuple[float, float, float]:
        """Unit vector along which the distance grows."""
        cdef double point[3]
        cdef double gradient[3]
        point[0], point[1], point[2] = p
        sdf(&self.shape, point, gradient)
        return gradient[0], gradient[1], gradient[2]
