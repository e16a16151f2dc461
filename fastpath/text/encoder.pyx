# distutils: language = c++
"""JSON encoder: whole frames from the loop's cells, numbers, and every other JSON body.

A FrameEncoder belongs to one connection and to one thread, the one that publishes its
records; it reads each device's newest state, transforms it to the session's application space and writes one JSON text. Real
numbers are float32, shortest digits that round-trip; values beyond float32 give `null`, and are counted.
The GIL is held throughout: a frame takes microseconds, and a thread that releases the GIL may wait a switch interval for it.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from posix.time cimport CLOCK_REALTIME, clock_gettime, timespec

from fastpath.arena.access cimport Reader, Writer, navigation_width
from fastpath.layout.arena cimport DeviceState, View
from fastpath.layout.constants cimport SESSION_WORDS, SHAPE_CURSOR, SHAPE_FIELDS, SHAPE_HANDLE
from fastpath.layout.dtypes import DEVICE_STATE
from fastpath.layout.navigation cimport Navigated
from fastpath.space.spatial cimport view_identity
from fastpath.text.state_text cimport (
    ESCAPE_BYTES, INTEGER_BYTES, NUMBER_BYTES, FrameOptions, put, put_arm, put_bytes, put_control, put_escaped,
    put_grip, put_integer, put_number, put_status, put_unsigned, rounded,
)

FLOAT64 = DEVICE_STATE["force"].base

cdef enum:
    FIRST_BYTES = 4096
    ENTRY_BYTES = 4096      # state and status of one device: 59 numbers and their names
    STAMP_BYTES = 80
    DEEPEST = 64
    MOST_NUMBERS = 32       # in the state of a kind with its own frame fields
    MOST_ERRORS = 8
    ERROR_CHARACTERS = 100
    ERRORS_BYTES = 2048     # eight errors of plain text; escapes and other scripts leave room for fewer

# Number of `null` that this process wrote in place of a number.
cdef uint64_t written_nulls = 0


@cython.final
cdef class Buffer:
    """Reusable byte buffer that grows by doubling."""

    cdef char *start
    cdef size_t used
    cdef size_t capacity

    def __dealloc__(self):
        free(self.start)

    cdef char *room(self, size_t size) except NULL:
        """Return the cursor behind the written text, with at least `size` bytes free."""
        cdef size_t capacity = max(self.capacity, <size_t>FIRST_BYTES)
        cdef char *grown
        while capacity - self.used < size:
            capacity *= 2
        if capacity != self.capacity:
            grown = <char *>realloc(self.start, capacity)
            if grown is NULL:
                raise MemoryError
            self.start = grown
            self.capacity = capacity
        return self.start + self.used

    cdef void keep(self, const char *end) noexcept:
        self.used = end - self.start

    cdef bytes text(self):
        return PyBytes_FromStringAndSize(self.start, self.used)


# ---------------------------------------------------------------- numbers and generic JSON

def number(double x) -> bytes:
    """Return the text of one real number as float32; NaN, infinity and values beyond float32 give `null`, counted in `nulls()`."""
    global written_nulls
    cdef char text[NUMBER_BYTES]
    cdef char *end = put_number(text, x, &written_nulls)
    return PyBytes_FromStringAndSize(text, end - text)


def nulls() -> int:
    """Return the number of `null` that this process wrote in place of a number, frames included; it never decreases."""
    return written_nulls


def encode_json(value) -> bytes:
    """Encode dict, list, tuple, str, bool, None, int, float and numpy scalars as JSON; members keep their order.

    Raise TypeError for other types and for keys other than str, ValueError beyond 64 levels. Lone surrogates become U+FFFD.
    """
    cdef Buffer out = Buffer()
    write_value(out, value, 0)
    return out.text()


cdef int write_literal(Buffer out, const char *literal) except -1:
    """Append a literal of at most eight bytes."""
    out.keep(put(out.room(8), literal))
    return 0


cdef int write_string(Buffer out, object text) except -1:
    """Append a str as a JSON string, with its quotes."""
    cdef const char *utf8
    cdef Py_ssize_t size = 0
    cdef char *at
    try:
        utf8 = PyUnicode_AsUTF8AndSize(text, &size)
    except UnicodeEncodeError:
        text = str.encode(text, "utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        utf8 = PyUnicode_AsUTF8AndSize(text, &size)
    at = put(out.room(ESCAPE_BYTES * size + 2), b'"')
    at = put_escaped(at, utf8, size)
    out.keep(put(at, b'"'))
    return 0


cdef int write_integer(Buffer out, object value) except -1:
    cdef int overflow = 0
    cdef int64_t small = PyLong_AsLongLongAndOverflow(value, &overflow)
    cdef bytes digits
    if overflow == 0:
        out.keep(put_integer(out.room(INTEGER_BYTES), small))
        return 0
    digits = int.__repr__(value).encode()
    out.keep(put_bytes(out.room(len(digits)), PyBytes_AS_STRING(digits), len(digits)))
    return 0


cdef int write_value(Buffer out, object value, int depth) except -1:
    """Append one JSON value; `depth` is the number of containers around it."""
    global written_nulls
    if value is None:
        write_literal(out, b"null")
    elif value is True:
        write_literal(out, b"true")
    elif value is False:
        write_literal(out, b"false")
    elif isinstance(value, str):
        write_string(out, value)
    elif isinstance(value, int):
        write_integer(out, value)
    elif isinstance(value, float):
        out.keep(put_number(out.room(NUMBER_BYTES), value, &written_nulls))
    elif isinstance(value, dict):
        write_dict(out, value if type(value) is dict else dict(value), depth + 1)
    elif isinstance(value, (list, tuple)):
        write_list(out, value, depth + 1)
    else:
        write_value(out, plain(value), depth)
    return 0


cdef object plain(object value):
    """Return the Python number of a numpy scalar; TypeError for another object."""
    cdef object inside = value.item() if getattr(value, "ndim", None) == 0 else value
    if isinstance(inside, (bool, int, float)):
        return inside
    raise TypeError(
        f"JSON has no {type(value).__name__}: make it a dict, list, tuple, str, bool, None, int or float first"
    )


cdef int check_depth(int depth) except -1:
    if depth > DEEPEST:
        raise ValueError(f"JSON is nested deeper than {DEEPEST} levels: make it flatter, or break its cycle")
    return 0


cdef int write_dict(Buffer out, dict value, int depth) except -1:
    cdef bint first = True
    check_depth(depth)
    write_literal(out, b"{")
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"JSON keys are str: make the {type(key).__name__} key {key!r} one")
        if not first:
            write_literal(out, b",")
        first = False
        write_string(out, key)
        write_literal(out, b":")
        write_value(out, item, depth)
    write_literal(out, b"}")
    return 0


cdef int write_list(Buffer out, object value, int depth) except -1:
    cdef bint first = True
    check_depth(depth)
    write_literal(out, b"[")
    for item in value:
        if not first:
            write_literal(out, b",")
        first = False
        write_value(out, item, depth)
    write_literal(out, b"]")
    return 0


# ---------------------------------------------------------------- frames

@cython.final
cdef class StateFields:
    """Template of the `state` of a SHAPE_FIELDS device: numbers of the loop's device state under their names."""

    cdef readonly bint motors
    cdef int count
    cdef size_t offset[MOST_NUMBERS]
    cdef double per_unit[MOST_NUMBERS]
    cdef list before

    def __cinit__(self, fields, *, bint motors):
        cdef str text = '"state":{'
        cdef str name, source, label
        cdef double per_unit
        self.motors = motors
        self.before = []
        for name, source, labels, per_unit in fields:
            kind, at = DEVICE_STATE.fields[source][:2]
            if kind.base != FLOAT64 or not 0 < len(labels) <= (kind.shape[0] if kind.shape else 1):
                raise ValueError(f"{source} of the device state has no {len(labels)} numbers")
            text += ("" if text.endswith("{") else ",") + f'"{name}":{{'
            for index, label in enumerate(labels):
                if self.count == MOST_NUMBERS:
                    raise ValueError(f"a state has at most {MOST_NUMBERS} numbers")
                self.offset[self.count] = at + 8 * index
                self.per_unit[self.count] = per_unit
                self.count += 1
                self.before.append((text + ("," if index else "") + f'"{label}":').encode())
                text = ""
            text = "}"
        if self.count == 0 or sum(map(len, self.before)) + NUMBER_BYTES * self.count > ENTRY_BYTES / 2:
            raise ValueError("the fields of a state are none, or longer than their room in a frame")

    cdef char *put_state(self, char *at, const DeviceState *s, const FrameOptions *options, uint64_t *nulls) noexcept:
        cdef bytes before
        cdef double value
        cdef int i
        for i in range(self.count):
            before = <bytes>self.before[i]
            value = (<const double *>(<const char *>s + self.offset[i]))[0]
            at = put_bytes(at, PyBytes_AS_STRING(before), PyBytes_GET_SIZE(before))
            at = put_number(at, rounded(value, self.per_unit[i]), nulls)
        at = put(at, b"}")
        if self.motors:
            at = put_control(at, s, options)
        return put(at, b"}")


@cython.final
cdef class FrameEntry:
    """One device in a frame, as the session behind `writer` sees it; without a writer, in device space."""

    cdef readonly str device_id
    cdef readonly int shape
    cdef readonly StateFields fields
    cdef readonly Reader reader
    cdef readonly Writer writer
    cdef readonly bint wireless, ready
    cdef View identity
    cdef const View *view
    cdef int own_session
    cdef Navigated navigated

    def __cinit__(self, str device_id not None, int shape, Reader reader not None, Writer writer, bint wireless=False, bint ready=True,
                  StateFields fields=None):
        if shape not in (SHAPE_CURSOR, SHAPE_HANDLE, SHAPE_FIELDS) or (shape == SHAPE_FIELDS) != (fields is not None):
            raise ValueError(f"{shape} is no shape of a state: give 1 (cursor), 2 (handle), or 3 with fields")
        if writer is not None and (writer.device != reader.device or writer.memory is not reader.memory):
            raise ValueError(f"give {device_id} a reader and a writer of one device: theirs differ")
        self.device_id = device_id
        self.shape = shape
        self.fields = fields
        self.reader = reader
        self.writer = writer
        self.wireless, self.ready = wireless, ready
        view_identity(&self.identity)
        self.view = &self.identity if writer is None else &writer.record.view
        self.own_session = -1 if writer is None else writer.session

    cdef bint in_use(self) noexcept:
        """Return whether any other session than the entry's commands the device."""
        cdef uint64_t word
        cdef int i
        for i in range(SESSION_WORDS):
            word = self.reader.state.live[i]
            if self.own_session >> 6 == i:
                word &= ~(<uint64_t>1 << (self.own_session & 63))
            if word != 0:
                return True
        return False


@cython.final
cdef class FrameEncoder:
    """Encodes the frames of one connection; constant text is prepared once."""

    cdef readonly uint64_t nulls
    cdef FrameOptions options
    cdef bint timestamps
    cdef list entries, before
    cdef bytes opening, closing
    cdef size_t fixed_bytes
    cdef Buffer out

    def __cinit__(
        self, session_id, groups, *, int version, bint explicit_fields=False, bint complete_transforms=False,
        bint status_safety=False, bint timestamps=False,
    ):
        if version not in (30, 31):
            raise ValueError(f"{version} is no frame version: give 30 or 31")
        if session_id is not None and session_id < 1:
            raise ValueError(f"{session_id} is no session id: give a positive integer, or None for frames without one")
        self.options.legacy = version == 30
        self.options.explicit_fields = explicit_fields
        self.options.complete_transforms = explicit_fields or complete_transforms
        self.options.safety = status_safety
        self.timestamps = timestamps
        self.out = Buffer()
        self.opening = b"" if session_id is None else b',"session_id":' + encode_json(session_id)
        self.entries = []
        self.before = []
        self.lay_out(groups)
        self.fixed_bytes = len(self.opening) + STAMP_BYTES + len(self.closing) + 2
        self.fixed_bytes += sum(len(text) + ENTRY_BYTES for text in self.before)

    cdef int lay_out(self, groups) except -1:
        """Prepare `entries`, the text before each of them, and the text after the last."""
        cdef FrameEntry entry
        cdef bytes text = b""
        cdef bytes name
        left, right = (b"{", b"}") if self.options.legacy else (b"[", b"]")
        for group, entries in groups:
            text += b"," + encode_json(group) + b":" + left
            for index, member in enumerate(entries):
                entry = <FrameEntry?>member
                name = encode_json(entry.device_id)
                text += b"," if index else b""
                text += name + b":{" if self.options.legacy else b'{"device_id":' + name + b","
                self.entries.append(entry)
                self.before.append(text)
                text = b""
            text += right
        self.closing = text
        return 0

    def encode(self, configs=None, errors=None, states=None) -> bytes:
        """Return one whole frame. `configs`, `states`: by device id, JSON text of `config` and further members of `state`, a comma before each; `errors`: path, reason."""
        global written_nulls
        cdef FrameEntry entry
        cdef bytes before, config
        cdef bytes tail = errors_text(errors) if errors else b""
        cdef list given = [configs.get((<FrameEntry>entry).device_id) for entry in self.entries] if configs else None
        cdef size_t size = self.fixed_bytes + len(tail) + (sum(map(len, states.values())) if states else 0)
        cdef uint64_t nulls = self.nulls
        cdef char *at
        cdef Py_ssize_t i
        if given is not None:
            for config in given:
                size += 0 if config is None else len(config) + 16
        for entry in self.entries:
            entry.reader.refresh_for(entry.writer, &entry.navigated)
        self.out.used = 0
        at = self.out.room(size)
        at = put_bytes(at, PyBytes_AS_STRING(self.opening), PyBytes_GET_SIZE(self.opening))
        if self.timestamps:
            at = self.put_stamp(at)
        for i in range(len(self.entries)):
            entry = <FrameEntry>self.entries[i]
            before = <bytes>self.before[i]
            at = put_bytes(at, PyBytes_AS_STRING(before), PyBytes_GET_SIZE(before))
            if given is not None and given[i] is not None:
                config = <bytes>given[i]
                at = put_bytes(put(at, b'"config":'), PyBytes_AS_STRING(config), PyBytes_GET_SIZE(config))
                at = put(at, b",")
            at = self.put_entry(at, entry, states.get(entry.device_id) if states else None)
        at = put_bytes(at, PyBytes_AS_STRING(self.closing), PyBytes_GET_SIZE(self.closing))
        at = put_bytes(at, PyBytes_AS_STRING(tail), PyBytes_GET_SIZE(tail))
        # Each member writes a comma before itself; the brace overwrites the first one.
        if at == self.out.start:
            at += 1
        self.out.start[0] = b"{"
        self.out.keep(put(at, b"}"))
        written_nulls += self.nulls - nulls
        return self.out.text()

    cdef char *put_entry(self, char *at, FrameEntry entry, bytes more) noexcept:
        """Append state (with `more` members before its brace) and status of one device, and the closing brace of its entry."""
        cdef const DeviceState *state = &entry.reader.state
        cdef double width = navigation_width(entry.writer)
        cdef const Navigated *n = &entry.navigated if width > 0 else NULL
        cdef bint motors = entry.shape == SHAPE_CURSOR or (entry.fields is not None and entry.fields.motors)
        if entry.shape == SHAPE_FIELDS:
            at = entry.fields.put_state(at, state, &self.options, &self.nulls)
        elif entry.shape == SHAPE_CURSOR:
            at = put_arm(at, state, entry.view, n, width, &self.options, &self.nulls)
        else:
            at = put_grip(at, state, entry.view, entry.wireless, &self.options, &self.nulls)
        if more is not None:
            at = put(put_bytes(at - 1, PyBytes_AS_STRING(more), PyBytes_GET_SIZE(more)), b"}")
        at = put_status(at, state, motors, entry.ready, motors and entry.in_use(), n != NULL, &self.options)
        return put(at, b"}")

    cdef char *put_stamp(self, char *at) noexcept:
        """Append the tick of the first device and the wall time of its state in s, in decimal: float32 would round it to minutes."""
        cdef int64_t wall = wall_ns()
        cdef int64_t micro, digit = 100000
        cdef uint64_t tick = 0
        cdef Reader first
        if self.entries:
            first = (<FrameEntry>self.entries[0]).reader
            tick = first.state.tick
            if tick != 0:
                wall -= first.memory._now() - first.state.time_ns
        at = put_unsigned(put(at, b',"tick":'), tick)
        at = put(put_integer(put(at, b',"time":'), wall // 1000000000), b".")
        micro = wall // 1000 % 1000000
        while digit:
            at = put_integer(at, micro // digit % 10)
            digit //= 10
        return at


cdef int64_t wall_ns() noexcept nogil:
    """Return the wall time, ns since the epoch."""
    cdef timespec now
    clock_gettime(CLOCK_REALTIME, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


cdef bytes errors_text(object errors):
    """Append the member `errors` with its comma: at most eight, each text cut to 100 characters, within 2,048 bytes in all."""
    cdef Buffer out = Buffer()
    cdef size_t whole
    cdef str path, reason
    cdef int count = 0
    out.keep(put(out.room(16), b',"errors":['))
    for path, reason in errors:
        whole = out.used
        out.keep(put(out.room(16), b'{"path":' if count == 0 else b',{"path":'))
        write_string(out, path[:ERROR_CHARACTERS])
        out.keep(put(out.room(16), b',"reason":'))
        write_string(out, reason[:ERROR_CHARACTERS])
        write_literal(out, b"}")
        if out.used >= ERRORS_BYTES:
            out.used = whole
            break
        count += 1
        if count == MOST_ERRORS:
            break
    write_literal(out, b"]")
    return out.text()
