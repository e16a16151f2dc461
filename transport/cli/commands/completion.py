"""`hapticd completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from transport.cli.exit_codes import ExitCode, WrongUsage
from transport.cli.output import Output
from transport.cli.table import COMPLETE_VARIABLE
from transport.cli.text import clean

SHELLS: Final = ("bash", "zsh", "fish")


class Shell(click.Choice[str]):
    """One of the shells; UsageError names them."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the shell's name."""
        del param
        if value not in SHELLS:
            raise click.UsageError(
                f'there is no completion for "{clean(value, 40)}": write one of {", ".join(SHELLS)}', ctx
            )
        return value


@click.command("completion", short_help="print the completion script of a shell")
@click.argument("shell", type=Shell(SHELLS))
def completion_command(shell: str) -> int:
    """Print the script that makes SHELL complete commands and options.

    bash: hapticd completion bash > ~/.local/share/bash-completion/completions/hapticd.
    zsh: hapticd completion zsh > DIRECTORY/_hapticd, in a directory of $fpath.
    fish: hapticd completion fish > ~/.config/fish/completions/hapticd.fish.
    """
    found = get_completion_class(shell)
    if found is None:
        raise WrongUsage(f"{shell} has no completion: give one of {', '.join(SHELLS)}.")
    script = found(click.Group("hapticd"), {}, "hapticd", COMPLETE_VARIABLE)
    Output(as_json=False).line(script.source_template % script.source_vars())
    return ExitCode.OK
