"""Every kind of device, by its neutral word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.device.kinds.arm import ARM
from actors.device.kinds.base import KindData
from actors.device.kinds.compact import COMPACT
from actors.device.kinds.grip import GRIP
from actors.device.kinds.pen import PEN
from actors.values.identity import Kind

KINDS: Final[Mapping[Kind, KindData]] = MappingProxyType({data.kind: data for data in (ARM, COMPACT, GRIP, PEN)})
