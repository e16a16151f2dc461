"""Cython declarations of `cells.h`. Section "Cells" of docs/architecture.md says which data crosses in which cell."""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from "cells/cells.h" nogil:
    ctypedef struct hd_triple:
        uint32_t middle
        uint32_t back
        uint32_t front

    uint64_t hd_load(const uint64_t *word)
    void hd_store(uint64_t *word, uint64_t value)
    uint64_t hd_exchange(uint64_t *word, uint64_t value)
    uint64_t hd_or(uint64_t *word, uint64_t bits)
    uint64_t hd_and(uint64_t *word, uint64_t bits)

    void hd_triple_init(hd_triple *cell)
    void hd_triple_publish(hd_triple *cell, void *buffers, const void *value, size_t size)
    int hd_triple_take(hd_triple *cell)
    void *hd_triple_front(const hd_triple *cell, void *buffers, size_t size)

    void hd_seq_write(uint64_t *sequence, void *cell, const void *value, size_t size)
    void hd_seq_begin(uint64_t *sequence)
    void hd_seq_put(void *cell, const void *value, size_t size)
    void hd_seq_end(uint64_t *sequence)
    uint64_t hd_seq_read_both(const uint64_t *sequence, const void *cell, void *value, size_t size,
                              const void *second, void *second_value, size_t second_size)
    uint64_t hd_seq_read(const uint64_t *sequence, const void *cell, void *value, size_t size)
