"""Check that the loop never allocates, locks, blocks or takes the GIL: `python -m tests.lint.loop_symbols`.

The thread of a serial port and the streaming thread are held to the same, but for the calls that move their bytes; the streaming
thread may also try a lock, and allocates when a frame is longer than any before. Their objects are compiled with one section for each function, so what a function calls is what its section refers to.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.lint.object_graph import ObjectGraph, read_object
from tests.support.suite.setup_script import dependencies

ROOT = Path(__file__).parents[2]
MODULE = "fastpath.tick.loop"
PORT_MODULE = "fastpath.port.port_thread"
STREAM_MODULE = "fastpath.stream.streaming"

MATHS = re.compile(
    r"(?:a?(?:sin|cos|tan)h?|atan2|sincos|sqrt|cbrt|hypot|exp2?|expm1|log(?:2|10|1p)?|pow|fmod|remainder|floor|ceil"
    r"|l?l?round|trunc|nearbyint|l?l?rint|fabs|copysign|fmin|fmax|fma|ldexp|frexp|modf|scalbn)[fl]?"
)
COMPILER = re.compile(
    r"mem(?:cpy|set|move|cmp)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__aarch64_\w+|_?_?(?:mul|div|fix|float)\w*[23]"
)
CLOCK = re.compile(r"clock_gettime")
WAIT = re.compile(r"clock_nanosleep")
SETUP = re.compile(
    r"prctl|syscall|sigfillset|getpriority|__errno_location"
    r"|pthread_(?:self|sigmask|setname_np|setschedparam|setaffinity_np)"
)
STREAM = re.compile(
    r"epoll_(?:wait|ctl)|poll|[gs]etpriority|read|write|recv|send|__errno_location|pthread_mutex_(?:trylock|unlock)|realloc|strlen|strtod_l|_ZSt8to_chars\w+"
)
PORT = re.compile(r"p?poll|read|write|ioctl|tcflush|__errno_location")


@dataclass(frozen=True, slots=True)
class Start:
    """A function of the loop, what all that it reaches may call, and what its own body may call besides."""

    function: str
    anywhere: tuple[re.Pattern[str], ...]
    in_body: tuple[re.Pattern[str], ...] = ()


# The thread prepares itself in its own body and waits between ticks; a tick computes and reads the clock.
STARTS = (
    Start("hd_loop_main", (MATHS, COMPILER, CLOCK, WAIT), (SETUP,)),
    Start("loop_step", (MATHS, COMPILER, CLOCK)),
)
PORT_STARTS = (Start("hd_port_main", (MATHS, COMPILER, CLOCK, WAIT, PORT), (SETUP,)),)

STREAM_STARTS = (Start("hd_stream_main", (MATHS, COMPILER, CLOCK, WAIT, STREAM, re.compile("sched_yield")), (SETUP,)),)


def violations(graph: ObjectGraph, starts: Iterable[Start] = STARTS, module: str = MODULE) -> list[str]:
    """One sentence for each call that a start must not reach."""
    return [sentence for start in starts for sentence in _violations_of(graph, start, module)]


def _violations_of(graph: ObjectGraph, start: Start, module: str) -> list[str]:
    root = graph.section_of(module, start.function)
    if root is None:
        return [f"{start.function} is not in the object: name the function of the {_subject(module)} in {__name__}."]
    sentences: list[str] = []
    for reached in graph.reach(root):
        way = " → ".join(_short(name) for name in (*reached.way, reached.name))
        if reached.outside:
            allowed = start.anywhere + (start.in_body if len(reached.way) == 1 else ())
            if not any(pattern.fullmatch(reached.name) for pattern in allowed):
                sentences.append(
                    f"{way}: the {_subject(module)} may not call {reached.name}, so compute it or move it out of there."
                )
        elif reached.name in graph.pointer_calls:
            sentences.append(f"{way}: a call through a pointer cannot be followed, so call the function by its name.")
    return sentences


def built_object(root: Path = ROOT, module: str = MODULE) -> Path:
    """A module's object of the last build in place; builds it when there is none or a source is newer."""
    name = module.rpartition(".")[2]
    found = _newest_object(root, name)
    sources = dependencies(root / f"{module.replace('.', '/')}.pyx", root)
    changed = max((root / path).stat().st_mtime for path in [*sources, "setup.py"])
    if found is None or found.stat().st_mtime < changed:
        for suffix in (".c", ".cpp"):
            generated = root.joinpath("build", "cython", *module.split(".")).with_suffix(suffix)
            if generated.exists():
                os.utime(
                    generated
                )  # the extension is compiled again, also where it was built without leaving its object
        subprocess.run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], cwd=root, check=True)
        found = _newest_object(root, name)
    if found is None:
        raise SystemExit(f"The build left no {name} object below build: run make clean, then make lint.")
    return found


def _subject(module: str) -> str:
    return {MODULE: "loop", PORT_MODULE: "thread of a port"}.get(module, "streaming thread")


def _newest_object(root: Path, name: str) -> Path | None:
    objects = sorted(root.glob(f"build/temp.*/**/{name}.o"), key=lambda path: path.stat().st_mtime)
    return objects[-1] if objects else None


def _short(section: str) -> str:
    """Name of a function without its section's prefix and without the modules that Cython puts before it, each with its length."""
    name, found = re.subn(r"^\.text\.(?:unlikely\.|hot\.|startup\.)?__pyx_f_(?=8fastpath_)", "", section)
    while found and (length := re.match(r"(\d+)(?=[a-z_])", name)):
        name = name[length.end() + int(length[1]) + 1 :]
    return name if found else re.sub(r"^\.text\.(?:unlikely\.|hot\.|startup\.)?", "", section)


def main() -> int:
    """Exit code 0 when loop, port threads and streaming thread are clean; else the sentences on standard error and 1."""
    found = violations(read_object(built_object()))
    found += violations(read_object(built_object(module=PORT_MODULE)), PORT_STARTS, PORT_MODULE)
    found += violations(read_object(built_object(module=STREAM_MODULE)), STREAM_STARTS, STREAM_MODULE)
    sys.stderr.writelines(f"{sentence}\n" for sentence in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
