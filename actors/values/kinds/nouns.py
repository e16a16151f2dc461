"""Names of device kinds for sentences, from the registry: "an arm or a compact"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from actors.values.kinds.registry import specs

if TYPE_CHECKING:
    from actors.values.kinds.base import KindSpec


def any_of(wanted: Callable[[KindSpec], bool]) -> str:
    """Return the kinds that satisfy `wanted`, with articles: "an arm or a compact"."""
    return joined(f"{spec.article} {spec.name}" for spec in specs() if wanted(spec))


def all_of(wanted: Callable[[KindSpec], bool], suffix: str = "") -> str:
    """Return the kinds joined by "and", each with a suffix: "an arm and a compact"."""
    return joined((f"{spec.article} {spec.name}{suffix}" for spec in specs() if wanted(spec)), "and")


def names_of(wanted: Callable[[KindSpec], bool]) -> str:
    """Return the names of the kinds that satisfy `wanted`: "arm or compact"."""
    return joined(spec.name for spec in specs() if wanted(spec))


def plurals_of(wanted: Callable[[KindSpec], bool]) -> str:
    """Return the kinds that satisfy `wanted` in the plural: "grips and pens"."""
    return joined((f"{spec.name}s" for spec in specs() if wanted(spec)), "and")


def takers_of(area: str) -> str:
    """Return the kinds that have an area of `config`, with articles; for an unknown area those with motors."""
    known = any(spec.has(area) for spec in specs())
    return any_of(lambda spec: spec.has(area) if known else spec.has_motors)


def simulated_words() -> tuple[str, ...]:
    """Return the words of `--simulate` without those that a bare name implies: arm, compact, grip, grip:wired, pen."""
    usual = {f"{spec.name}:{spec.connection}" for spec in specs()}
    return tuple(word for spec in specs() for word in (spec.name, *spec.variants) if word not in usual)


def joined(words: Iterable[str], last: str = "or") -> str:
    """Return `a, b or c`."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
