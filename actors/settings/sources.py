"""Overrides of settings: the command line wins over the environment, both win over the stored file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from actors.kit.errors import InvalidInput
from actors.settings.key_lookup import VARIABLE, Catalog
from actors.settings.messages import UnknownSetting, Value

COMMAND_LINE: Final = "command line"
ENVIRONMENT: Final = "environment"


@dataclass(frozen=True, slots=True)
class Override:
    """A value in force for this run of the service."""

    value: Value
    source: str  # COMMAND_LINE or ENVIRONMENT


def read_overrides(
    catalog: Catalog,
    options: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
    *,
    alias: Callable[[str], str] = str,
    short: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> Mapping[str, Override]:
    """Return overrides by key from `KEY=VALUE` options (the last one wins) and `HAPTICD_…` variables; InvalidInput names the source.

    `alias` converts other accepted keys to those of the catalogue; `short` holds options with the key that each stands for and its
    value: of a short option and a `KEY=VALUE` for the same setting the latter counts, and each is named by its own error.
    """
    found = dict(_environment(catalog, environ or {}, alias))
    found.update(_command_line(catalog, options, alias, short))
    return MappingProxyType(found)


def _command_line(
    catalog: Catalog, options: Iterable[str], alias: Callable[[str], str], short: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, Override]]:
    for name, (key, text) in short.items():
        with _errors_at(name):
            yield key, Override(catalog.find(key).parse_text(text), COMMAND_LINE)
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise InvalidInput(f'write KEY=VALUE, not "{option[:80]}".', "--set")
        with _errors_at("--set"):
            setting = catalog.find(alias(name.strip()))
        with _errors_at(f"--set {setting.key}"):
            yield setting.key, Override(setting.parse_text(text), COMMAND_LINE)


def _environment(
    catalog: Catalog, environ: Mapping[str, str], alias: Callable[[str], str]
) -> Iterator[tuple[str, Override]]:
    for name in sorted(environ):
        if not name.startswith(VARIABLE):
            continue
        with _errors_at(name):
            setting = catalog.find(catalog.key_of_variable(name, alias))
            value = setting.parse_text(environ[name])
            if value in setting.local_only:
                raise setting.local_only_error(value)
            yield setting.key, Override(value, ENVIRONMENT)


@contextmanager
def _errors_at(where: str) -> Generator[None]:
    """Raise errors of the block as InvalidInput at `where`."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.reason, where) from None
    except UnknownSetting as error:
        raise InvalidInput(error.sentence, where) from None
