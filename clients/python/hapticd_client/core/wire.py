"""Messages and frames of a WebSocket session, without I/O: what to send in each turn, and what comes of the frames."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import orjson

from hapticd_client.core.device import TRANSFORM, DeviceCore
from hapticd_client.core.session import Session, faults_of
from hapticd_client.core.state import WireState
from hapticd_client.core.words import Words, entries_of, kind_of, vocabulary_of
from hapticd_client.errors import ProtocolBroken, WrongWords

D = TypeVar("D", bound=DeviceCore)
PROBE: Final = b"{}"
FULL: Final = b'{"session":{"force_render_full_state":{}}}'
ERRORS: Final = b'"errors"'


class Wire(Generic[D]):
    """One connection's side of the rule *one message, one frame*."""

    def __init__(self, session: Session[D], words: Words) -> None:
        """`words`: what frames must speak; `auto` takes either."""
        self._session = session
        self._words = words
        self._awaited = 1  # frames that the service owes: the first comes unasked
        self._in_force = False
        self._wants_full = False
        self._first = True
        self._profile_sent = False

    @property
    def awaited(self) -> int:
        """Frames that the service owes."""
        return self._awaited

    # ------------------------------------------------------------ messages

    def probe(self) -> bytes:
        """Return the message that begins a turn: it neither releases nor refreshes what is in force."""
        self._awaited += 1
        if self._wants_full:
            self._wants_full = False
            return FULL
        return PROBE

    def act(self) -> bytes | None:
        """Return the message with what was assigned; None: there is nothing to say. It releases what was not assigned again. DeviceGone."""
        session = self._session
        groups: dict[str, list[dict[str, Any]]] = {}
        commanded = configured = mapped = False
        for device in session.devices.values():
            commands = device.take_commands(session.most_force)
            configure = device.take_configuration() if device.present else {}
            if not (commands or configure):
                continue
            entry: dict[str, Any] = {"device_id": device.id}
            commanded |= bool(commands)
            transform = configure.pop(TRANSFORM, None)
            if transform is not None:
                configured = True
                commands[TRANSFORM] = _transform_body(transform)
            if configure:
                configured = True
                entry["configure"] = configure
            if commands:
                mapped = True
                entry["commands"] = commands
            groups.setdefault(device.group, []).append(entry)
        if self._in_force and not mapped:
            self._release(groups)
        if session.profile is not None and not self._profile_sent:
            configured = self._profile_sent = True
            groups["session"] = {"configure": {"profile": {"name": session.profile}}}  # type: ignore[assignment]
        self._in_force = commanded
        if not groups:
            return None
        self._wants_full |= configured
        self._awaited += 1
        return orjson.dumps(groups, option=orjson.OPT_SERIALIZE_NUMPY)

    def release(self) -> bytes | None:
        """Return the message that releases everything; None when nothing is in force."""
        self._session.drop()
        if not self._in_force:
            return None
        groups: dict[str, list[dict[str, Any]]] = {}
        self._release(groups)
        self._in_force = False
        self._awaited += 1
        return orjson.dumps(groups)

    def _release(self, groups: dict[str, list[dict[str, Any]]]) -> None:
        """Have the message carry a `commands` map without a command, of any device."""
        for entries in groups.values():
            entries[0]["commands"] = {}
            return
        for device in self._session.devices.values():
            if device.present:
                groups[device.group] = [{"device_id": device.id, "commands": {}}]
                return

    # ------------------------------------------------------------ frames

    def take(self, payload: bytes) -> None:
        """Take the next frame; only the newest one is read whole. ProtocolBroken, WrongWords."""
        self._awaited -= 1
        if self._awaited > 0:
            if ERRORS in payload:
                self._session.refuse(faults_of(_parsed(payload)))
            return
        frame = _parsed(payload)
        if self._first:
            self._check_words(frame)
        if "errors" in frame:
            self._session.refuse(faults_of(frame))
        try:
            self._show(frame)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ProtocolBroken(
                f"a frame of the service has another shape than docs/wire.md says ({error!r}): is this hapticd?"
            ) from None
        self._first = False

    def _show(self, frame: dict[str, Any]) -> None:
        session = self._session
        seen: set[str] = set()
        for group, device_id, entry in entries_of(frame):
            config = entry.get("config")
            if not isinstance(config, dict | None):
                raise TypeError("config is an object")
            device = session.devices.get(device_id)
            if device is None or not device.present or device.group != group:
                device = self._new(group, str(device_id), config)
            if config is not None:
                device.describe(config)
            elif not device.described:
                self._wants_full = True
            device.show(WireState(entry))
            seen.add(device_id)
        if len(seen) != len(session.devices):
            for device_id, device in session.devices.items():
                if device_id not in seen:
                    device.show(None)
        if self._first:
            session.session_id = int(frame["session_id"])

    def _new(self, group: str, device_id: str, config: dict[str, Any] | None) -> D:
        kind = kind_of(group, config)
        known = self._session.devices.get(device_id)
        if known is not None and config is None and known.kind in {"arm", "compact"} and kind == "arm":
            kind = known.kind
        device = self._session.device(kind, device_id, group)
        if config is None:
            self._wants_full = True
        return device

    def _check_words(self, frame: dict[str, Any]) -> None:
        found = vocabulary_of(frame)
        if found is None or "session_id" not in frame:
            raise ProtocolBroken("the first frame of the service has no devices and no session_id: is this hapticd?")
        if self._words not in {"auto", found}:
            raise WrongWords(
                f'the service speaks {found} words and {self._words} ones were asked for: use words="auto", or update the service'
            )


def _transform_body(transform: dict[str, Any]) -> dict[str, Any]:
    body = dict(transform)
    pivot = body.pop("pivot", None)
    return {"transform": body} if pivot is None else {"transform": body, "pivot": pivot}


def _parsed(payload: bytes) -> dict[str, Any]:
    try:
        frame = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise ProtocolBroken(f"a frame of the service is no JSON ({error}): is this hapticd?") from None
    if not isinstance(frame, dict):
        raise ProtocolBroken("a frame of the service is no JSON object: is this hapticd?")
    return frame
