"""Write ops/man/hapticd.1 from the commands: `python -m transport.cli.man_page`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from transport.cli.described import ENVIRONMENT, OptionText, commands, shared_options
from transport.cli.exit_codes import MEANINGS


def page() -> str:
    """Return the page in the language of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    shared = shared_options()
    names = {option.names for option in shared}
    yield '.\\" Written by `make docs` from transport/cli.'
    yield '.TH HAPTICD 1 "" "hapticd" "User Commands"'
    yield ".SH NAME"
    yield "hapticd \\- haptic device service and the commands of its operators"
    yield ".SH SYNOPSIS"
    for command in commands():
        yield f".B {_text(command.usage)}"
        yield ".br"
    yield ".SH DESCRIPTION"
    yield _text(
        "hapticd run is the service and hapticd token reads its state directory; hapticd doctor looks at this machine, and so does hapticd bundle without a service. "
        "All other commands are clients of a running service through its HTTP and WebSocket interface."
    )
    yield ".SH COMMANDS"
    for command in commands():
        yield ".SS " + _text(command.usage)
        for place, paragraph in enumerate(command.paragraphs):
            if place:
                yield ".PP"
            yield _text(paragraph)
        yield from _options([option for option in command.options if option.names not in names])
    yield ".SH OPTIONS OF EVERY CLIENT COMMAND"
    yield from _options(shared)
    yield ".SH EXIT STATUS"
    for code, meaning in MEANINGS.items():
        yield ".TP"
        yield f".B {int(code)}"
        yield _text(meaning)
    yield ".SH ENVIRONMENT"
    for name, meaning in ENVIRONMENT:
        yield ".TP"
        yield f".B {_text(name)}"
        yield _text(meaning)


def _options(options: tuple[OptionText, ...] | list[OptionText]) -> Iterator[str]:
    for option in options:
        yield ".TP"
        yield f".B {_text(option.names)}"
        yield _text(option.help or option.names)


def _text(text: str) -> str:
    """Return a text with the characters that mean something to roff escaped; code marks are taken off."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "").replace("…", "...")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(page())
