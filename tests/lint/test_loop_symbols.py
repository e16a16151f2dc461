"""The symbol check finds forbidden calls however they are reached, and passes all other code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.lint.loop_symbols import PORT_MODULE, PORT_STARTS, violations
from tests.lint.object_graph import ObjectGraph, read_object

CLEAN = """
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

volatile int halt;
volatile double input;
double output;
void *kept;

HELPERS

static __attribute__((noinline)) double force(double x) {
    BODY
    return sqrt(x) * sin(x);
}

static __attribute__((noinline)) void tick(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    output = force(input + now.tv_nsec);
}

void *__pyx_f_8fastpath_4tick_4loop_hd_loop_main(void *argument) {
    struct timespec deadline = {0, 0};
    prctl(PR_SET_TIMERSLACK, 1UL);
    while (!halt) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, 0);
        tick();
    }
    return argument;
}

void __pyx_f_8fastpath_4tick_4loop_loop_step(long ticks) {
    while (ticks--) tick();
}

void unrelated(void) { printf("%p\\n", malloc(8)); }
"""


def compiled(folder: Path, *, helpers: str = "", body: str = "", source: str = CLEAN) -> ObjectGraph:
    """Graph of the planted loop, with statements in the function that every tick calls."""
    text = folder / "loop.c"
    text.write_text(source.replace("HELPERS", helpers).replace("BODY", body), encoding="utf-8")
    compiler = os.environ.get("CC", "cc").split()
    target = folder / "loop.o"
    flags = ["-O2", "-fPIC", "-ffunction-sections", "-fdata-sections"]
    subprocess.run([*compiler, *flags, "-c", str(text), "-o", str(target)], check=True)
    return read_object(target)


def test_a_clean_loop_passes(tmp_path: Path) -> None:
    assert violations(compiled(tmp_path)) == []


@pytest.mark.parametrize(
    ("helpers", "body", "named"),
    [
        ("", "kept = malloc(8);", "malloc"),
        ("", 'if (x > 3) printf("%g", x);', "printf"),
        ("", "pthread_mutex_lock((pthread_mutex_t *)&output);", "pthread_mutex_lock"),
        ("", "qsort(&output, halt, 8, 0);", "qsort"),
        ("int PyGILState_Ensure(void);", "PyGILState_Ensure();", "PyGILState_Ensure"),
        ("extern int Py_Something;", "x += Py_Something;", "Py_Something"),
        ("", "prctl(PR_SET_TIMERSLACK, 1UL);", "prctl"),
        (
            'static __attribute__((noinline, cold)) void complain(double x) { fprintf(stderr, "%g", x); abort(); }',
            "if (x < 0) complain(x);",
            "abort",
        ),
        (
            (
                "static __attribute__((noinline)) double step(double x) { kept = malloc(1); return x; }"
                " double (*const steps[])(double) = {step, sqrt};"
            ),
            "x = steps[halt](x);",
            "malloc",
        ),
    ],
)
def test_a_forbidden_call_in_a_tick_is_named_for_both_starts(
    tmp_path: Path, helpers: str, body: str, named: str
) -> None:
    found = violations(compiled(tmp_path, helpers=helpers, body=body))

    saying = [sentence for sentence in found if f"may not call {named}," in sentence]
    assert len(saying) == 2
    assert saying[0].startswith("hd_loop_main → tick → force → ")
    assert saying[1].startswith("loop_step → tick → force → ")


def test_a_call_through_a_pointer_is_refused(tmp_path: Path) -> None:
    found = violations(compiled(tmp_path, helpers="extern double (*step)(double);", body="x = step(x) + 1;"))

    assert any("call through a pointer" in sentence and "force" in sentence for sentence in found)


def test_sleep_is_allowed_in_the_thread_but_not_in_a_step(tmp_path: Path) -> None:
    body = "struct timespec t = {0, 1}; clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);"

    (sentence,) = violations(compiled(tmp_path, body=body))

    assert sentence.startswith("loop_step → tick → force → clock_nanosleep:")


def test_an_object_without_the_loop_is_refused(tmp_path: Path) -> None:
    found = violations(compiled(tmp_path, source="int nothing;"))

    assert len(found) == 2
    assert all("is not in the object" in sentence for sentence in found)


PORT = """
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

volatile int halt;
void *kept;

static __attribute__((noinline)) void take_in(void) {
    char data[16];
    if (read(3, data, sizeof data) > 0) { BODY }
}

void *__pyx_f_8fastpath_4port_11port_thread_hd_port_main(void *argument) {
    struct pollfd port = {3, POLLIN, 0};
    while (!halt) if (poll(&port, 1, 10) > 0) take_in();
    return argument;
}
"""


@pytest.mark.parametrize(
    ("body", "named"), [("(void)0;", None), ("kept = malloc(8);", "malloc"), ("(void)close(3);", "close")]
)
def test_port_thread_may_only_move_bytes(tmp_path: Path, body: str, named: str | None) -> None:
    found = violations(compiled(tmp_path, source=PORT, body=body), PORT_STARTS, PORT_MODULE)

    assert [sentence.split(": ")[0] for sentence in found] == ([f"hd_port_main → take_in → {named}"] if named else [])
