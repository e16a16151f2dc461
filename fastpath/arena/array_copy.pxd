"""Copy between a C struct and a Python buffer of the same layout."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer, Py_buffer
from libc.string cimport memcpy


cdef inline int copy_out(object array, const void *value, Py_ssize_t size) except -1:
    """Copy a struct into an array of the same layout."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_WRITABLE)
    if buffer.len != size:
        PyBuffer_Release(&buffer)
        raise ValueError(f"the array must have {size} bytes, not {buffer.len}")
    memcpy(buffer.buf, value, size)
    PyBuffer_Release(&buffer)
    return 0


cdef inline int copy_in(object array, void *value, Py_ssize_t size) except -1:
    """Copy an array into a struct of the same layout."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    if buffer.len != size:
        PyBuffer_Release(&buffer)
        raise ValueError(f"the array must have {size} bytes, not {buffer.len}")
    memcpy(value, buffer.buf, size)
    PyBuffer_Release(&buffer)
    return 0
