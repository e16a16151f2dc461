"""Text of devices for HTTP and for full frames: states are read at each call, the rest is kept until its record is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.session.api import SessionConfig
from fastpath.text.encoder import encode_json
from transport.wire import frames
from transport.wire.remembered import Remembered

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord, Inventory
    from actors.settings.api import SettingsView
    from fastpath.arena.runtime import Runtime
    from fastpath.text.encoder import FrameEncoder
    from transport.wire.vocabulary import Vocabulary

# About 1 KB each: 16 devices of 64 sessions that each configured every device, twice.
MOST_CONFIGS: Final = 2048
# One for each vocabulary and version, of up to 256 KB with 16 devices.
MOST_ENCODERS: Final = 4
START: Final = SessionConfig()
NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})


class DeviceTexts:
    """Texts of one service; main thread only."""

    def __init__(self, most_configs: int = MOST_CONFIGS) -> None:
        """`most_configs` texts of a `config` are kept."""
        self._configs = Remembered[bytes](most_configs)
        self._encoders = Remembered["FrameEncoder"](MOST_ENCODERS)

    def configs(
        self,
        records: Iterable[DeviceRecord],
        config: SessionConfig,
        vocabulary: Vocabulary,
        settings: SettingsView,
        version: str,
        more: Mapping[str, bytes] = NOTHING,
    ) -> dict[tuple[str, str], bytes]:
        """Return the JSON text of each device's `config`, by group and device id.

        `more`: by device id, further members behind it, a comma before each.
        """

        def place(record: DeviceRecord) -> tuple[str, str]:
            return vocabulary.group(record.kind, record.identity.connection), record.device_id

        def text(record: DeviceRecord) -> bytes:
            device_id = record.device_id
            own = config.devices.get(device_id)
            # Sessions that configured nothing of a device share its text.
            key = (device_id, id(own), config.basis, config.freeform, vocabulary.name, version)
            return self._configs.get(
                key,
                (record, own, settings),
                lambda: encode_json(frames.config_of(record, config, vocabulary, settings, version)),
            )

        if not more:
            return {place(record): text(record) for record in records}
        return {place(record): text(record) + more.get(record.device_id, b"") for record in records}

    def devices_json(
        self,
        inventory: Inventory,
        runtime: Runtime,
        vocabulary: Vocabulary,
        settings: SettingsView,
        version: str = "3.1",
        start: SessionConfig | None = None,
        more: Mapping[str, bytes] = NOTHING,
    ) -> bytes:
        """Return the groups of a full frame: in device space, or as a session that starts with `start` sees them.

        `more`: by device id, further members of its entry behind `config`, a comma before each.
        """

        def made() -> FrameEncoder:
            return frames.devices_encoder(inventory.devices, runtime, vocabulary, settings, version, start)

        if start is None:
            whole = self._encoders.get((vocabulary.name, version), (inventory.devices, runtime, settings), made)
        else:
            whole = made()
        return whole.encode(self.configs(inventory.devices, start or START, vocabulary, settings, version, more))

    def members(
        self, record: DeviceRecord, runtime: Runtime, vocabulary: Vocabulary, settings: SettingsView, version: str
    ) -> bytes:
        """Return the members of one device's entry in device space, from `config` on, without the entry's braces."""
        group = vocabulary.group(record.kind, record.identity.connection)
        entry = frames.frame_entry(record, runtime.reader(record.lease), None)
        alone = frames.encoder(None, [(group, [entry])], version, settings)
        text = alone.encode(self.configs((record,), START, vocabulary, settings, version))
        # The frame has this one entry: `…"arm":[{"device_id":"049D",` members `}]}`, in 3.0 `…"arm":{"049D":{` members `}}}`.
        name = encode_json(record.device_id)
        before = encode_json(group) + (b":{%b:{" % name if version == "3.0" else b':[{"device_id":%b,' % name)
        return text[text.index(before) + len(before) : -len(b"}]}")]
