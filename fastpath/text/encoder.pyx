# distutils: language = c++
"""JSON encoder: whole frames from the loop's cells, numbers, and every other JSON body.

A FrameEncoder belongs to one connection; whoever holds the lock of its session may write frames by its plan. A frame has each
device's newest state in the session's application space. Real
numbers are float32, shortest digits that round-trip; values beyond float32 give `null`, and are counted.
`encode` keeps the GIL: a frame takes microseconds, and a thread that releases the GIL may wait a switch interval for it. The
streaming thread writes the same frames without it (`frame_plan.pxd`).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from fastpath.arena.access cimport Reader, Writer
from fastpath.layout.arena cimport Arena
from fastpath.layout.constants cimport MAX_DEVICES, SHAPE_CURSOR, SHAPE_FIELDS, SHAPE_HANDLE
from fastpath.layout.dtypes import DEVICE_STATE
from fastpath.space.spatial cimport view_identity
from fastpath.text.frame_plan cimport MOST_NUMBERS, Additions, EntryPlan, FieldsPlan, FramePlan, Text, put_frame
from fastpath.text.shared_text cimport ENTRY_BYTES, SharedText
from fastpath.text.state_text cimport (
    ESCAPE_BYTES, INTEGER_BYTES, NUMBER_BYTES, put, put_bytes, put_escaped, put_integer, put_number,
)

FLOAT64 = DEVICE_STATE["force"].base

cdef enum:
    FIRST_BYTES = 4096
    STAMP_BYTES = 80
    DEEPEST = 64
    MOST_ERRORS = 8
    ERROR_CHARACTERS = 100
    ERRORS_BYTES = 2048     # eight errors of plain text; escapes and other scripts leave room for fewer

# Number of `null` that this process wrote in place of a number.
cdef uint64_t written_nulls = 0


@cython.final
cdef class Buffer:
    """Reusable byte buffer that grows by doubling."""

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

cdef Text text_of(bytes text):
    """Return the text of bytes that the caller keeps."""
    cdef Text found
    found.start = PyBytes_AS_STRING(text)
    found.size = PyBytes_GET_SIZE(text)
    return found


@cython.final
cdef class StateFields:
    """Template of the `state` of a SHAPE_FIELDS device: numbers of the loop's device state under their names."""

    def __cinit__(self, fields, *, bint motors):
        cdef str text = '"state":{'
        cdef str name, source, label
        cdef double per_unit
        cdef bytes before
        memset(&self.plan, 0, sizeof(FieldsPlan))
        self.plan.motors = motors
        self.before = []
        for name, source, labels, per_unit in fields:
            kind, at = DEVICE_STATE.fields[source][:2]
            if kind.base != FLOAT64 or not 0 < len(labels) <= (kind.shape[0] if kind.shape else 1):
                raise ValueError(f"{source} of the device state has no {len(labels)} numbers")
            text += ("" if text.endswith("{") else ",") + f'"{name}":{{'
            for index, label in enumerate(labels):
                if self.plan.count == MOST_NUMBERS:
                    raise ValueError(f"a state has at most {MOST_NUMBERS} numbers")
                before = (text + ("," if index else "") + f'"{label}":').encode()
                self.before.append(before)
                self.plan.before[self.plan.count] = text_of(before)
                self.plan.offset[self.plan.count] = at + 8 * index
                self.plan.per_unit[self.plan.count] = per_unit
                self.plan.count += 1
                text = ""
            text = "}"
        if self.plan.count == 0 or sum(map(len, self.before)) + NUMBER_BYTES * self.plan.count > ENTRY_BYTES / 2:
            raise ValueError("the fields of a state are none, or longer than their room in a frame")

    @property
    def motors(self) -> bool:
        """Whether the state has control domain and mode."""
        return self.plan.motors


@cython.final
cdef class FrameEntry:
    """One device in a frame, as the session behind `writer` sees it; without a writer, in device space."""

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

    cdef void lay_out(self, EntryPlan *plan) noexcept:
        """Fill in the entry's plan, but for the text before it."""
        cdef Arena *arena = self.reader.memory.arena
        memset(plan, 0, sizeof(EntryPlan))
        plan.shape, plan.wireless, plan.ready = self.shape, self.wireless, self.ready
        if self.fields is not None:
            plan.fields = &self.fields.plan
        plan.device = self.reader.device
        plan.slot = &arena.devices[self.reader.device]
        plan.view = &self.identity
        plan.own_session = -1
        if self.writer is not None:
            plan.own_session = self.writer.session
            plan.record = &self.writer.record
            plan.home = &self.writer.home[0]
            plan.view = &self.writer.record.view
            if self.writer.session >= 0:
                plan.cell = &arena.records[self.writer.session * MAX_DEVICES + self.writer.device]


@cython.final
cdef class SharedTexts:
    """Texts of the newest states of one arena's devices, for the encoders of one thread."""

    def __cinit__(self):
        self.texts = <SharedText *>calloc(1, sizeof(SharedText))
        if self.texts is NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.texts)

    @property
    def taken(self) -> int:
        """Number of texts that were taken instead of being written."""
        return self.texts.taken


@cython.final
cdef class FrameEncoder:
    """Encodes the frames of one connection; constant text is prepared once."""

    def __cinit__(
        self, session_id, groups, *, int version, bint explicit_fields=False, bint complete_transforms=False,
        bint status_safety=False, bint timestamps=False,
    ):
        memset(&self.plan, 0, sizeof(FramePlan))
        if version not in (30, 31):
            raise ValueError(f"{version} is no frame version: give 30 or 31")
        if session_id is not None and session_id < 1:
            raise ValueError(f"{session_id} is no session id: give a positive integer, or None for frames without one")
        self.plan.options.legacy = version == 30
        self.plan.options.explicit_fields = explicit_fields
        self.plan.options.complete_transforms = explicit_fields or complete_transforms
        self.plan.options.safety = status_safety
        self.plan.timestamps = timestamps
        self.out = Buffer()
        self.entries = []
        self.groups = []
        self.texts = []
        self.plan.opening = self.kept(b"" if session_id is None else b',"session_id":' + encode_json(session_id))
        self.lay_out(groups)

    def __dealloc__(self):
        free(self.plan.entries)

    cdef Text kept(self, bytes text):
        """Return the text; it lives as long as the encoder."""
        self.texts.append(text)
        return text_of(text)

    cdef int lay_out(self, groups) except -1:
        """Lay out the entries, each with the text before it, and the text after the last."""
        cdef FrameEntry entry
        cdef bytes text = b""
        cdef bytes name
        cdef list before = []
        cdef dict first = {}
        cdef int i, at
        left, right = (b"{", b"}") if self.plan.options.legacy else (b"[", b"]")
        for group, entries in groups:
            text += b"," + encode_json(group) + b":" + left
            for index, member in enumerate(entries):
                entry = <FrameEntry?>member
                name = encode_json(entry.device_id)
                text += b"," if index else b""
                text += name + b":{" if self.plan.options.legacy else b'{"device_id":' + name + b","
                self.entries.append(entry)
                self.groups.append(group)
                before.append(text)
                text = b""
            text += right
        self.plan.closing = self.kept(text)
        self.plan.longest = self.plan.opening.size + STAMP_BYTES + self.plan.closing.size + 2
        self.plan.longest += sum([len(text) + ENTRY_BYTES for text in before])
        self.plan.count = len(before)
        self.plan.entries = <EntryPlan *>calloc(max(self.plan.count, 1), sizeof(EntryPlan))
        if self.plan.entries is NULL:
            raise MemoryError
        for i in range(self.plan.count):
            entry = <FrameEntry>self.entries[i]
            entry.lay_out(&self.plan.entries[i])
            self.plan.entries[i].before = self.kept(before[i])
            at = first.setdefault(id(entry), i)
            if at != i:
                self.plan.entries[i].first = &self.plan.entries[at]
            self.plan.arena = entry.reader.memory.arena
        return 0

    @property
    def nulls(self) -> int:
        """Number of `null` in these frames."""
        return self.plan.nulls

    def encode(self, configs=None, errors=None, states=None, *, SharedTexts shared=None) -> bytes:
        """Return one whole frame. `configs`: by group and device id, JSON text of `config`; `errors`: path, reason.

        `states`: by device id, further members of `state`, a comma before each.
        `shared`: texts of one arena's devices that other encoders of this thread wrote and may take.
        """
        global written_nulls
        cdef bytes tail = errors_text(errors) if errors else b""
        cdef Text tail_text = text_of(tail)
        cdef size_t size = self.plan.longest + tail_text.size
        cdef uint64_t nulls = self.plan.nulls
        cdef Additions *additions = NULL
        cdef bytes config, state
        cdef list kept = []
        cdef int i
        if configs or states:
            additions = <Additions *>calloc(self.plan.count + 1, sizeof(Additions))
            if additions is NULL:
                raise MemoryError
        try:
            for i in range(self.plan.count if additions is not NULL else 0):
                config = configs.get((self.groups[i], (<FrameEntry>self.entries[i]).device_id)) if configs else None
                state = states.get((<FrameEntry>self.entries[i]).device_id) if states else None
                kept.append((config, state))
                if config is not None:
                    additions[i].config = text_of(config)
                    size += additions[i].config.size + 16
                if state is not None:
                    additions[i].state = text_of(state)
                    size += additions[i].state.size
            self.out.used = 0
            self.out.room(size)
            self.out.keep(put_frame(self.out.start, &self.plan, additions, &tail_text, shared.texts if shared is not None else NULL))
        finally:
            free(additions)
        written_nulls += self.plan.nulls - nulls
        return self.out.text()


cdef str whole_words(str reason):
    """Return the sentence; a longer one than ERROR_CHARACTERS ends behind a word, with an ellipsis."""
    if len(reason) <= ERROR_CHARACTERS:
        return reason
    head = reason[:ERROR_CHARACTERS - 1]
    before = head.rpartition(" ")[0]
    return (before if len(before) > ERROR_CHARACTERS // 2 else head).rstrip(" ,;:(") + "…"


cdef bytes errors_text(object errors):
    """Append the member `errors` with its comma: at most eight, paths cut to 100 characters, reasons behind a word, within 2,048 bytes in all."""
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
        write_string(out, whole_words(reason))
        write_literal(out, b"}")
        if out.used >= ERRORS_BYTES:
            out.used = whole
            break
        count += 1
        if count == MOST_ERRORS:
            break
    write_literal(out, b"]")
    return out.text()
