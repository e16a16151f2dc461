"""What a PromQL expression asks for: metrics, labels and functions, checked against the catalogue of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import promql_parser

from actors.kit.metric_catalog import METRIC_ROWS, MetricType

# Labels that Prometheus gives to what it scrapes.
OF_A_TARGET: Final = frozenset({"job", "instance"})
SAMPLES: Final = {
    **{name: frozenset(labels) | OF_A_TARGET for row in METRIC_ROWS.values() for name, labels in row.samples.items()},
    "up": OF_A_TARGET,
}
GROWING: Final = frozenset(
    name for row in METRIC_ROWS.values() if row.type is not MetricType.GAUGE for name in row.samples
)
# What may be asked of a counter: how fast it grows, and whether it is there or above nothing.
RATES: Final = frozenset({"rate", "increase", "irate"})


def faults(expression: str) -> list[str]:
    """Return what is wrong with an expression; ValueError when it is no PromQL."""
    return list(_faults(promql_parser.parse(expression)))


def result_labels(expression: str) -> frozenset[str]:
    """Return the labels that results of an expression may have."""
    return _labels(promql_parser.parse(expression))


def _faults(node: Any) -> Iterator[str]:
    match type(node).__name__:
        case "VectorSelector":
            yield from _selector_faults(node)
        case "MatrixSelector":
            yield from _selector_faults(node.vector_selector)
        case "AggregateExpr" if node.modifier is not None:
            missing = set(node.modifier.labels) - _labels(node.expr)
            if missing:
                yield f"no metric of {node.expr} has {', '.join(sorted(missing))}"
        case "BinaryExpr" if node.modifier is not None and node.modifier.matching is not None:
            missing = set(node.modifier.matching.labels) - (_labels(node.lhs) & _labels(node.rhs))
            if missing:
                yield f"{', '.join(sorted(missing))} is not on both sides of {node}"
        case "Call" if node.func.name == "histogram_quantile" and "le" not in _labels(node.args[1]):
            yield f"{node} has no le"
        case _:
            pass
    for child in _children(node):
        yield from _faults(child)


def _selector_faults(selector: Any) -> Iterator[str]:
    if selector.name not in SAMPLES:
        yield f"there is no metric {selector.name}"
        return
    for matcher in selector.matchers.matchers:
        if matcher.name not in SAMPLES[selector.name]:
            yield f"{selector.name} has no label {matcher.name}"


def bare_counters(expression: str) -> list[str]:
    """Return the counters that an expression shows as they are, without a rate."""
    return list(_bare(promql_parser.parse(expression)))


def _bare(node: Any) -> Iterator[str]:
    name = type(node).__name__
    if name == "VectorSelector" and node.name in GROWING:
        yield node.name
    elif name == "MatrixSelector" or (name == "Call" and node.func.name in RATES):
        return
    for child in _children(node):
        yield from _bare(child)


def _labels(node: Any) -> frozenset[str]:
    match type(node).__name__:
        case "VectorSelector":
            return SAMPLES.get(node.name, frozenset())
        case "MatrixSelector":
            return SAMPLES.get(node.vector_selector.name, frozenset())
        case "AggregateExpr":
            named = frozenset() if node.modifier is None else frozenset(node.modifier.labels)
            without = node.modifier is not None and "Without" in str(node.modifier.type)
            return _labels(node.expr) - named if without else named
        case "BinaryExpr" if str(node.op) == "or":
            return _labels(node.lhs) | _labels(node.rhs)
        case "Call" if node.func.name == "histogram_quantile":
            return _labels(node.args[1]) - {"le"}
        case "BinaryExpr":
            return _labels(node.lhs) or _labels(node.rhs)
        case _:
            found: frozenset[str] = frozenset()
            for child in _children(node):
                found |= _labels(child)
            return found


def _children(node: Any) -> Iterator[Any]:
    for name in ("lhs", "rhs", "expr", "param"):
        child = getattr(node, name, None)
        if child is not None:
            yield child
    if type(node).__name__ == "Call":
        yield from node.args
