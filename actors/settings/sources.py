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
    """A value that holds for this run of the service, and who says so."""

    value: Value
    source: str


def read_overrides(
    catalog: Catalog,
    options: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
    *,
    alias: Callable[[str], str] = str,
    short: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, Override]:
    """Overrides by key from `KEY=VALUE` options, the last one winning, and `HAPTICD_…` variables; InvalidInput names the culprit.

    `alias` turns the keys that are accepted besides the catalogue's into those; `short` are the options that stand for keys.
    """
    found = dict(_environment(catalog, environ or {}, alias))
    found.update(_command_line(catalog, options, alias, short))
    return MappingProxyType(found)


def _command_line(
    catalog: Catalog, options: Iterable[str], alias: Callable[[str], str], short: Mapping[str, str]
) -> Iterator[tuple[str, Override]]:
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise InvalidInput(f'write KEY=VALUE, not "{option[:80]}".', "--set")
        with _naming("--set"):
            setting = catalog.find(alias(name.strip()))
        with _naming(short.get(setting.key, f"--set {setting.key}")):
            yield setting.key, Override(setting.parse_text(text), COMMAND_LINE)


def _environment(
    catalog: Catalog, environ: Mapping[str, str], alias: Callable[[str], str]
) -> Iterator[tuple[str, Override]]:
    for name in sorted(environ):
        if not name.startswith(VARIABLE):
            continue
        with _naming(name):
            setting = catalog.find(catalog.key_of_variable(name, alias))
            value = setting.parse_text(environ[name])
            if value in setting.local_only:
                raise setting.local_only_error(value)
            yield setting.key, Override(value, ENVIRONMENT)


@contextmanager
def _naming(where: str) -> Generator[None]:
    """What goes wrong inside is said to be wrong at `where`."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.reason, where) from None
    except UnknownSetting as error:
        raise InvalidInput(error.sentence, where) from None
