"""Write docs/command-line.md from the commands: `python -m transport.cli.reference`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from transport.cli.described import ENVIRONMENT, CommandText, commands, shared_options
from transport.cli.exit_codes import MEANINGS


def page() -> str:
    """Return the page with links to the pages that it names."""
    return re.sub(r"\bdocs/([\w-]+\.md)\b", r"[\1](\1)", "\n".join(_lines()))


def _lines() -> Iterator[str]:
    shared = shared_options()
    yield "# Command line"
    yield ""
    yield "This page is generated from the commands in `transport/cli`; `make docs` writes it again. `hapticd COMMAND --help` and"
    yield "`man hapticd` say the same. In a clone the program is `.venv/bin/hapticd`."
    yield ""
    yield "`hapticd run` is the service and `hapticd token` reads its state directory. `doctor` looks at this machine. All others are"
    yield "clients of a running service, through its public interface ([http.md](http.md), [wire.md](wire.md)): they work on another"
    yield "machine too, and do nothing that a program of yours cannot do."
    yield ""
    yield "```"
    yield "hapticd status"
    yield "hapticd stop && hapticd resume"
    yield "hapticd events --follow --level warning"
    yield "hapticd settings set control/frequency 8000"
    yield "hapticd doctor"
    yield "hapticd check arm/0"
    yield "```"
    yield ""
    yield "Options stand behind the command. With `--json` a command prints one JSON document on one line (`events` and `monitor`: one on"
    yield 'each line), also when it fails: `{"error": "…", "exit_code": 3}`. Errors are one sentence on standard error. Names from a service'
    yield "are shown with control characters as `\\x1b`."
    yield ""
    yield "## Exit codes"
    yield ""
    yield "| Code | Meaning |"
    yield "|---|---|"
    for code, meaning in MEANINGS.items():
        yield f"| {int(code)} | {meaning} |"
    yield ""
    yield "## Environment"
    yield ""
    yield "| Variable | Meaning |"
    yield "|---|---|"
    for name, meaning in ENVIRONMENT:
        yield f"| `{name}` | {meaning} |"
    yield ""
    yield "## Options of every client command"
    yield ""
    yield "| Option | Meaning |"
    yield "|---|---|"
    for option in shared:
        yield f"| `{option.names}` | {option.help} |"
    yield ""
    yield "## Commands"
    yield ""
    for command in commands():
        yield from _command(command, {option.names for option in shared})


def _command(command: CommandText, shared: set[str]) -> Iterator[str]:
    yield f"### {command.name}"
    yield ""
    yield "```"
    yield command.usage
    yield "```"
    yield ""
    for paragraph in command.paragraphs:
        yield paragraph
        yield ""
    own = [option for option in command.options if option.names not in shared]
    if own:
        yield "| Option | Meaning |"
        yield "|---|---|"
        for option in own:
            yield f"| `{option.names.replace('|', chr(92) + '|')}` | {option.help} |"
        yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
