"""`/metrics`: the service's numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client.exposition import choose_encoder

from transport.http.call import Call, Text
from transport.http.describe.about import About
from transport.http.route import Route

METRICS: Final = About(media="text/plain")


def routes() -> Iterator[Route]:
    """One, also while the service starts and stops."""
    yield Route("GET", "/metrics", read_metrics, "Metrics in Prometheus' text format.", always=True, about=METRICS)


async def read_metrics(call: Call) -> Text:
    """Every metric, in the text format that the Accept header prefers."""
    encode, content_type = choose_encoder(call.accept)
    return Text(encode(call.bridge.system.context.metrics.registry), content_type)
