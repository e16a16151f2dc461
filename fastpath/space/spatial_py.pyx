"""Coordinate transforms for Python: the loop's basis, transform, and the whole Space between device and application.

Vectors are three floats, quaternions four (w x y z); a basis is (axes, signs), a transform (position, rotation, scale), as
Writer takes them. ValueError for a number that is not finite and for an invalid basis or transform.
"""

from collections.abc import Sequence

cimport fastpath.layout.arena as layout
from fastpath.layout.arena cimport View
cimport fastpath.space.spatial as spatial
from fastpath.space.validation cimport fill_basis, fill_transform, fill_vector

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Basis = tuple[Sequence[int], Sequence[int]]
Transform = tuple[Sequence[float], Sequence[float], Sequence[float]]


def basis_apply(basis, v) -> tuple[float, float, float]:
    """v' = B v: positions, velocities, forces."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_apply(&b, u, u)
    return u[0], u[1], u[2]


def basis_undo(basis, v) -> tuple[float, float, float]:
    """v = B' v'."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_undo(&b, u, u)
    return u[0], u[1], u[2]


def basis_rotation(basis, q) -> tuple[float, float, float, float]:
    """Quaternion of B R(q) B'."""
    cdef layout.Basis b
    cdef double u[4]
    take_basis(&b, basis)
    fill_vector(u, q, 4)
    spatial.basis_rotation(&b, u, u)
    return u[0], u[1], u[2], u[3]


def basis_axial(basis, v) -> tuple[float, float, float]:
    """w' = det(B) B w: angular velocities, torques about axes of space."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_axial(&b, u, u)
    return u[0], u[1], u[2]


def transform_point(transform, p) -> tuple[float, float, float]:
    """t + R (s * p)."""
    cdef layout.Transform m
    cdef double u[3]
    take_transform(&m, transform)
    fill_vector(u, p, 3)
    spatial.transform_point(&m, u, u)
    return u[0], u[1], u[2]


def transform_point_back(transform, p) -> tuple[float, float, float]:
    """(R' (p - t)) / s."""
    cdef layout.Transform m
    cdef double u[3]
    take_transform(&m, transform)
    fill_vector(u, p, 3)
    spatial.transform_point_back(&m, u, u)
    return u[0], u[1], u[2]


cdef class Space:
    """Transforms between device frame and application space: basis, mount and workspace, both ways."""

    cdef View view

    def __cinit__(self, *, basis=None, mount=None, workspace=None):
        spatial.view_identity(&self.view)
        if basis is not None:
            take_basis(&self.view.basis, basis)
        if mount is not None:
            take_transform(&self.view.mount, mount)
        if workspace is not None:
            take_transform(&self.view.workspace, workspace)

    def position_to_application(self, p) -> tuple[float, float, float]:
        """Convert a position (m) from device frame to application space."""
        cdef double u[3]
        fill_vector(u, p, 3)
        spatial.position_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def position_to_device(self, p) -> tuple[float, float, float]:
        """Convert a position (m) from application space to device frame."""
        cdef double u[3]
        fill_vector(u, p, 3)
        spatial.position_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def velocity_to_application(self, v) -> tuple[float, float, float]:
        """Convert a velocity (m/s) from device frame to application space; scaled."""
        cdef double u[3]
        fill_vector(u, v, 3)
        spatial.velocity_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def velocity_to_device(self, v) -> tuple[float, float, float]:
        """Convert a velocity (m/s) from application space to device frame; unscaled."""
        cdef double u[3]
        fill_vector(u, v, 3)
        spatial.velocity_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def force_to_application(self, f) -> tuple[float, float, float]:
        """Convert a force (N) from device frame to application space: rotated, never scaled."""
        cdef double u[3]
        fill_vector(u, f, 3)
        spatial.force_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def force_to_device(self, f) -> tuple[float, float, float]:
        """Convert a force (N) from application space to device frame: rotated, never scaled."""
        cdef double u[3]
        fill_vector(u, f, 3)
        spatial.force_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def rotation_to_application(self, q) -> tuple[float, float, float, float]:
        """Convert an orientation from device frame to application space."""
        cdef double u[4]
        fill_vector(u, q, 4)
        spatial.rotation_to_application(&self.view, u, u)
        return u[0], u[1], u[2], u[3]

    def rotation_to_device(self, q) -> tuple[float, float, float, float]:
        """Convert an orientation from application space to device frame."""
        cdef double u[4]
        fill_vector(u, q, 4)
        spatial.rotation_to_device(&self.view, u, u)
        return u[0], u[1], u[2], u[3]


cdef int take_basis(layout.Basis *b, basis) except -1:
    axes, signs = basis
    return fill_basis(b, axes, signs)


cdef int take_transform(layout.Transform *m, transform) except -1:
    position, rotation, scale = transform
    return fill_transform(m, position, rotation, scale)
