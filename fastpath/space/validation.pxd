"""Validate Python values of bases and transforms and copy them into their C structs."""

from libc.math cimport isfinite

from fastpath.layout.arena cimport Basis, Transform


cdef inline int check_finite(double a, double b, double c) except -1:
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        raise ValueError("commands must be finite numbers")
    return 0


cdef inline int fill_basis(Basis *basis, axes, signs) except -1:
    """Copy a signed permutation in, and compute its determinant; raise ValueError for anything else."""
    cdef int i, parity = 1
    if sorted(axes) != [0, 1, 2] or len(signs) != 3:
        raise ValueError("a basis needs each axis once and signs of 1 or -1")
    for i in range(3):
        if signs[i] not in (-1, 1):
            raise ValueError("a basis needs each axis once and signs of 1 or -1")
        basis.axis[i] = axes[i]
        basis.sign[i] = signs[i]
        parity *= basis.sign[i]
    if (axes[0], axes[1], axes[2]) not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        parity = -parity
    basis.determinant = parity
    return 0


cdef inline int fill_transform(Transform *m, position, rotation, scale) except -1:
    """Copy a transform in; raise ValueError unless it is finite, its rotation a unit quaternion (to 1e-9) and its scale positive."""
    cdef double norm = 0
    cdef Transform copy
    cdef int i
    if not (len(position) == 3 and len(rotation) == 4 and len(scale) == 3):
        raise ValueError("a transform needs 3 numbers of position, 4 of rotation and 3 of scale")
    for i in range(3):
        copy.t[i] = position[i]
        copy.s[i] = scale[i]
        if not (isfinite(copy.t[i]) and isfinite(copy.s[i]) and copy.s[i] > 0):
            raise ValueError("a transform needs finite positions and positive finite scales")
    for i in range(4):
        copy.q[i] = rotation[i]
        norm += copy.q[i] * copy.q[i]
    if not -1e-9 < norm - 1 < 1e-9:
        raise ValueError("a transform needs a unit quaternion")
    m[0] = copy
    return 0


cdef inline int fill_vector(double *out, values, int count) except -1:
    """Copy `count` numbers in; raise ValueError for another count or a number that is not finite."""
    cdef int i
    if len(values) != count:
        raise ValueError(f"{count} numbers are needed here, not {len(values)}")
    for i in range(count):
        out[i] = values[i]
        if not isfinite(out[i]):
            raise ValueError("numbers must be finite")
    return 0
