"""Sentences name the program as it was typed: by its relative path in a clone, by its name everywhere else."""

from __future__ import annotations

import pytest

from transport.cli.typed import as_typed

SENTENCE = "No service answers (refused): start one with hapticd run, see hapticd status, then hapticd reset ttyACM0."


def test_commands_are_named_by_the_relative_path_that_was_typed() -> None:
    assert as_typed(SENTENCE, ".venv/bin/hapticd") == SENTENCE.replace("hapticd ", ".venv/bin/hapticd ")
    assert as_typed("$ sudo hapticd doctor", "bin/hapticd") == "$ sudo bin/hapticd doctor"


@pytest.mark.parametrize("program", ["hapticd", "/usr/bin/hapticd", "/opt/hapticd/bin/hapticd", "pytest", "-c", ""])
def test_name_stays_where_it_is_on_the_path_or_typed_by_a_program(program: str) -> None:
    assert as_typed(SENTENCE, program) == SENTENCE


@pytest.mark.parametrize(
    "text", ["hapticd listens there", "hapticd 3.5", "/opt/hapticd run", "systemctl restart hapticd"]
)
def test_what_is_no_command_stays(text: str) -> None:
    assert as_typed(text, ".venv/bin/hapticd") == text
