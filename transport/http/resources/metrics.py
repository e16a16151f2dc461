"""Route of `/metrics`, the page that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.exposition import ALLOWUTF8, DOTS, UNDERSCORES, VALUES

from transport.http.call import Call, Text
from transport.http.metrics_page import MetricsPage
from transport.http.resources.health import obstacle
from transport.http.route import Route
from transport.http.schema.route_schema import RouteSchema

if TYPE_CHECKING:
    from transport.bridge import Bridge

ESCAPINGS: Final = (ALLOWUTF8, UNDERSCORES, DOTS, VALUES)
METRICS: Final = RouteSchema(media="text/plain")
OPENMETRICS: Final = "application/openmetrics-text"
ASKED: Final = (
    "",
    OPENMETRICS,
    *(f"{kind};version=1.0.0;escaping={way}" for kind in ("text/plain", OPENMETRICS) for way in ESCAPINGS),
)
# Encoders by content type; for an unknown version the newest one is used.
FORMATS: Final = MappingProxyType({content_type: encode for encode, content_type in map(choose_encoder, ASKED)})


def routes() -> Iterator[Route]:
    """Yield the route, also answered while the service starts and stops."""
    yield Route("GET", "/metrics", read_metrics, "Metrics in Prometheus' text format.", always=True, schema=METRICS)


async def read_metrics(call: Call) -> Text:
    """Return all metrics in the text format that the Accept header prefers; at most two pages a second per format."""
    _, content_type = choose_encoder(call.headers.get("Accept", ""))
    if content_type not in FORMATS:
        _, content_type = choose_encoder(OPENMETRICS)
    cache = call.edge.body_cache
    page = cache.metrics_pages.get(content_type)
    if page is None:
        page = cache.metrics_pages[content_type] = MetricsPage(FORMATS[content_type])
    return Text(cache.metrics.get(content_type, lambda: page.text(_updated(call.bridge))), content_type)


def _updated(bridge: Bridge) -> CollectorRegistry:
    """Return the registry, with the readiness of this moment."""
    metrics = bridge.system.context.metrics
    metrics.ready.set(obstacle(bridge) is None)
    return metrics.registry
