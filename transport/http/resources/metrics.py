"""`/metrics`: the service's numbers for Prometheus."""

from __future__ import annotations

from prometheus_client.exposition import choose_encoder

from transport.http.call import Call, Text


async def read_metrics(call: Call) -> Text:
    """Every metric, in the text format that the Accept header prefers."""
    encode, content_type = choose_encoder(call.accept)
    return Text(encode(call.bridge.system.context.metrics.registry), content_type)
