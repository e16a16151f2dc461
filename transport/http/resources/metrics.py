"""`/metrics`: the service's numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.exposition import ALLOWUTF8, DOTS, UNDERSCORES, VALUES

from transport.http.call import Call, Text
from transport.http.route import Route
from transport.http.schema.route_schema import RouteSchema

ESCAPINGS: Final = (ALLOWUTF8, UNDERSCORES, DOTS, VALUES)
METRICS: Final = RouteSchema(media="text/plain")
OPENMETRICS: Final = "application/openmetrics-text"
ASKED: Final = (
    "",
    OPENMETRICS,
    *(f"{kind};version=1.0.0;escaping={way}" for kind in ("text/plain", OPENMETRICS) for way in ESCAPINGS),
)
# Every format that is written, by its content type: whoever asks for another version gets the newest that there is.
FORMATS: Final = MappingProxyType({content_type: encode for encode, content_type in map(choose_encoder, ASKED)})


def routes() -> Iterator[Route]:
    """One, also while the service starts and stops."""
    yield Route("GET", "/metrics", read_metrics, "Metrics in Prometheus' text format.", always=True, about=METRICS)


async def read_metrics(call: Call) -> Text:
    """Every metric, in the text format that the Accept header prefers; of each format two pages a second are made."""
    _, content_type = choose_encoder(call.accept)
    if content_type not in FORMATS:
        _, content_type = choose_encoder(OPENMETRICS)
    registry, encode = call.bridge.system.context.metrics.registry, FORMATS[content_type]
    return Text(call.edge.kept.metrics.get(content_type, lambda: encode(registry)), content_type)
