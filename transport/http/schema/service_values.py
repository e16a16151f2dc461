"""Values of the running service that fill `FromService` placeholders in `/openapi.json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from transport.http.schema.json_schema import FromService
from transport.wire.vocabulary import path_kinds, path_words

if TYPE_CHECKING:
    from transport.bridge import Bridge


@dataclass(frozen=True, slots=True)
class ServiceValues:
    """Ids and words by the names that `FromService` uses; an empty tuple: none exist now."""

    devices: tuple[str, ...] = ()
    movers: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    device_words: tuple[str, ...] = field(default_factory=path_words)
    mover_words: tuple[str, ...] = field(
        default_factory=lambda: tuple(
            word for word in path_words() if any(kind.has_motors for kind in path_kinds(word))
        )
    )

    @property
    def alone(self) -> bool:
        """Whether exactly one session is open."""
        return len(self.sessions) == 1

    def schema(self, leaf: FromService) -> dict[str, Any]:
        """Return an enum of the current words; any text where there is none."""
        found: tuple[str, ...] = getattr(self, leaf.what)
        words = [*found, *leaf.also]
        return {"type": "string", "enum": words} if words else {"type": "string"}


def service_values_of(bridge: Bridge) -> ServiceValues:
    """Return the values of this moment."""
    return ServiceValues(
        devices=tuple(record.device_id for record in bridge.inventory.devices),
        movers=tuple(record.device_id for record in bridge.inventory.devices if record.kind.has_motors),
        sessions=tuple(str(record.session_id) for record in bridge.sessions.sessions),
        ports=tuple(status.port for status in bridge.ports.ports),
    )
