"""Every command: its help, its usage errors in one sentence, its place in the pages, and what it imports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from transport.cli import man_page, reference
from transport.cli.commands.settings import constraint_words
from transport.cli.described import commands
from transport.cli.exit_codes import MEANINGS, ExitCode
from transport.cli.program import program, run
from transport.cli.table import COMMANDS, asks_service
from transport.main import main

ROOT = Path(__file__).parents[4]
NOBODY = "http://127.0.0.1:1"
ALL = [command.name.split()[1:] for command in commands()]
CLIENTS = [words for words in ALL if words[0] in COMMANDS and words[0] != "completion"]
NEEDED = {
    "reset": ["sim0"],
    "settings set": ["control/frequency", "8000"],
    "settings reset": ["control/frequency"],
    "calibrate": ["arm/0"],
    "pair": ["arm/0"],
    "check": ["arm/0", "--yes"],
}


def whole(words: list[str]) -> list[str]:
    """The words with the arguments that the command needs."""
    return [*words, *NEEDED.get(" ".join(words), [])]


def one_sentence(shown: str) -> str:
    (line,) = shown.splitlines()
    assert line.startswith("hapticd: ")
    return line.removeprefix("hapticd: ")


@pytest.mark.parametrize("words", CLIENTS, ids=" ".join)
def test_help_is_answered_without_a_service(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--help"]) == 0

    shown = capsys.readouterr()
    assert shown.err == ""
    for option in ("--url", "--token", "--token-file", "--timeout", "--json"):
        assert option in shown.out


@pytest.mark.parametrize("words", CLIENTS, ids=" ".join)
@pytest.mark.parametrize(
    "wrong",
    [
        ["--nope"],
        ["--url"],
        ["--url", ""],
        ["--url", "ftp://x"],
        ["--url", "http://u:p@x"],
        ["--timeout", "0"],
        ["--timeout", "-1"],
        ["--timeout", "nan"],
        ["--timeout", "inf"],
        ["--timeout", "soon"],
        ["--timeout", "1e9"],
        ["--token", "two words"],
        ["--token", "\x1b"],
        ["--token", "x" * 5000],
        ["--token-file", "/nowhere/token"],
        ["--token-file", "/"],
        ["--json=1"],
        ["a", "b", "c", "d"],
    ],
    ids=lambda wrong: "_".join(wrong)[:30],
)
def test_wrong_usage_is_one_sentence_and_ends_with_2(
    words: list[str], wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([*whole(words), *wrong])

    shown = capsys.readouterr()
    assert code == ExitCode.USAGE
    assert shown.out == ""
    assert "\x1b" not in shown.err
    assert one_sentence(shown.err)


@pytest.mark.parametrize(
    ("name", "words"),
    [("HAPTICD_URL", ["status"]), ("HAPTICD_EVENTS_URL", ["events"]), ("HAPTICD_TOKEN", ["devices"])],
)
def test_wrong_variable_is_named(
    name: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "two words")

    assert run(words) == ExitCode.USAGE
    assert name in one_sentence(capsys.readouterr().err)


@pytest.mark.parametrize("words", [["status"], ["settings"], ["settings", "get"], ["doctor"]], ids=" ".join)
def test_short_option_of_help_is_understood(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "-h"]) == 0

    assert capsys.readouterr().out.startswith("Usage: hapticd ")


@pytest.mark.parametrize("name", NEEDED)
def test_missing_argument_is_named(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name.split()) == ExitCode.USAGE

    assert re.search(r"Missing argument '[A-Z]+': see hapticd", one_sentence(capsys.readouterr().err))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["settings", "nope"], "write one of get, set, reset, diff"),
        (["settings", "set", "x", "-5"], "-5 is read as an option: write -- before a value"),
        (["settings", "set", "", "1"], "KEY is empty"),
        (["settings", "reset", "//"], "KEY is empty"),
        (["stop", ""], '"" is no device: write an id'),
        (["resume", "/"], '"/" is no device'),
        (["resume", "arm/"], '"arm/" is no device'),
        (["calibrate", "a/b/c"], '"a/b/c" is no device'),
        (["check", ""], '"" is no device'),
        (["check", "arm/0", "--force", "nan"], "nan is no number"),
        (["check", "arm/0", "--travel", "NaN"], "nan is no number"),
        (["doctor", "--state-dir", ""], "--state-dir needs the path of a folder"),
        (["doctor", "--port", ""], "--port needs the path of a serial port"),
        (["settings", "gte"], "did you mean hapticd settings get? See hapticd settings --help"),
        (["completion", "tcsh"], 'there is no completion for "tcsh": write one of bash, zsh, fish'),
        (["check", "arm/0", "--force", "5"], "0.1<=x<=1.0"),
        (["events", "--level", "loud"], "'info'"),
        (["pair", "a", "b", "--dissolve"], "--dissolve takes one device"),
        (["monitor", "--count", "0"], "0 is not in the range x>=1"),
        (["doctor", "--state-dir"], "requires an argument"),
    ],
)
def test_wrong_choice_names_the_choices(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == ExitCode.USAGE

    assert says in one_sentence(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["statu"], 'there is no command "statu": did you mean hapticd status? See hapticd --help'),
        (["STOP"], "did you mean hapticd stop?"),
        (["help"], "did you mean hapticd --help?"),
        (["--json"], "options stand behind the command, write hapticd COMMAND --json"),
        (["--url=x"], "write hapticd COMMAND --url=x"),
        (["frobnicate"], "write one of run, token, status, "),
        ([""], 'there is no command "": write one of'),
        (["\x1b[31m"], 'there is no command "\\x1b[31m": write one of'),
        (["--url", NOBODY, "status"], "options stand behind the command, write hapticd status --url"),
        (["--json", "settings", "get"], "write hapticd settings --json"),
    ],
)
def test_word_that_is_no_command_names_what_to_write(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert says in one_sentence(capsys.readouterr().err)


def test_group_alone_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["settings"]) == ExitCode.USAGE

    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("Usage: hapticd settings ")
    assert re.search(r"^  diff +show what is not the default$", shown.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("kind", "constraint", "unit", "words"),
    [
        ("BOOL", {}, None, "true or false"),
        ("INT", {"range": {"min": 100, "max": 32000}}, "Hz", "a whole number from 100 to 32000 Hz"),
        ("INT", {"range": {"min": 0, "max": 9}, "nullable": True}, None, "a whole number from 0 to 9, or null"),
        ("FLOAT", {"range": {"min": 0.02, "max": 0.5}}, "s", "a number from 0.02 to 0.5 s"),
        ("VEC3", {"range": {"min": -1.0, "max": 1.0}}, None, "three numbers from -1 to 1"),
        ("STRING", {"choices": ["auto", "neutral", "inverse"]}, None, "auto, neutral or inverse"),
        ("STRING", {"nullable": True}, None, "a text, or null"),
        ("ARR_STRING", {"choices": ["arm", "pen"], "nullable": True}, None, "a list of arm or pen, or null"),
        ("ARR_STRING", {}, None, "a list of texts, with commas between"),
        ("GENERIC", {"range": {"min": 0, "max": 7}, "choices": ["auto"]}, None, "auto or a whole number from 0 to 7"),
        ("GENERIC", {}, None, ""),
        ("SOMETHING", [], None, ""),
        ("INT", {"range": "\x1b", "choices": 3}, None, "a whole number"),
    ],
)
def test_constraint_of_a_setting_is_told_in_words(kind: str, constraint: object, unit: str | None, words: str) -> None:
    assert constraint_words({"type_hint": kind, "metadata": {"constraint": constraint}, "unit": unit}) == words


def test_help_of_the_program_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    shown = capsys.readouterr().out
    for name, row in COMMANDS.items():
        assert re.search(rf"^  {name}\s", shown, re.MULTILINE), name
        assert " ".join(row.summary.split()) in " ".join(shown.split())


def test_run_and_token_are_read_by_the_service_s_own_parser() -> None:
    assert not asks_service(["run"])
    assert not asks_service(["token", "status"])
    assert not asks_service([])
    assert asks_service(["status"])


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitCode)


@pytest.mark.parametrize(
    ("page", "text"), [("docs/command-line.md", reference.page), ("ops/man/hapticd.1", man_page.page)]
)
def test_page_is_current(page: str, text: object) -> None:
    assert callable(text)
    assert (ROOT / page).read_text(encoding="utf-8") == text(), "run make docs"


def test_pages_name_every_command_and_option() -> None:
    for shown in (reference.page(), man_page.page().replace("\\-", "-").replace("\\e", "\\")):
        for command in commands():
            assert command.usage in shown
            assert all(option.names.split()[0].strip(",") in shown for option in command.options)
        for code, meaning in MEANINGS.items():
            assert str(int(code)) in shown
            assert meaning.replace("`", "") in shown.replace("`", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0

    assert f"_HAPTICD_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "offers"),
    [
        ("", {"run", "token", "status", "doctor"}),
        ("st", {"status", "stop"}),
        ("settings ", {"get", "set", "reset", "diff"}),
        ("completion ", {"bash", "zsh", "fish"}),
        ("events --lev", {"--level"}),
        ("events --level ", {"warning", "panic"}),
        ("run --sim", {"--simulate"}),
        ("token --", {"--state-dir"}),
    ],
)
def test_bash_completes_commands_options_and_choices(
    typed: str, offers: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["hapticd", *typed.split()]
    monkeypatch.setenv("COMP_WORDS", f"hapticd {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(words) if typed.endswith(" ") or not typed else len(words) - 1))

    assert run([], {"_HAPTICD_COMPLETE": "bash_complete"}) == 0

    offered = {line.partition(",")[2] for line in capsys.readouterr().out.splitlines()}
    assert offers <= offered


def loaded(code: str) -> set[str]:
    """Top-level packages and modules of ours that a new interpreter has imported after the code."""
    script = f"{code}\nimport sys, json\nprint('\\n' + json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_status_imports_neither_the_service_nor_what_it_does_not_need() -> None:
    found = loaded(f"from transport.main import main\nmain(['status', '--url', '{NOBODY}'])")

    assert {"click", "http.client"} <= found
    assert not {
        name for name in found if name.split(".")[0] in {"actors", "fastpath", "numpy", "tornado", "rich", "asyncio"}
    }


def test_run_imports_neither_click_nor_rich() -> None:
    found = loaded("from transport.main import main\nmain(['run', '--frequency', '99'])\nimport transport.service")

    assert "transport.service" in found
    assert not {name for name in found if name.split(".")[0] in {"click", "rich"}}


def test_group_has_every_command_of_the_table() -> None:
    group = program()

    for name in COMMANDS:
        found = group.get_command(group.make_context("hapticd", ["x"], resilient_parsing=True), name)
        assert found is not None
        assert found.name == name
