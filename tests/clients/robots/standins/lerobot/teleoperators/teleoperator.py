"""Teleoperator: what each one has."""

from __future__ import annotations

import abc
from typing import Any

from lerobot.teleoperators.config import TeleoperatorConfig


class Teleoperator(abc.ABC):
    config_class: type[TeleoperatorConfig]
    name: str

    def __init__(self, config: TeleoperatorConfig) -> None:
        self.id = config.id

    @property
    @abc.abstractmethod
    def action_features(self) -> dict[str, type]: ...

    @property
    @abc.abstractmethod
    def feedback_features(self) -> dict[str, type]: ...

    @property
    @abc.abstractmethod
    def is_connected(self) -> bool: ...

    @abc.abstractmethod
    def connect(self, calibrate: bool = True) -> None: ...

    @property
    @abc.abstractmethod
    def is_calibrated(self) -> bool: ...

    @abc.abstractmethod
    def calibrate(self) -> None: ...

    @abc.abstractmethod
    def configure(self) -> None: ...

    @abc.abstractmethod
    def get_action(self) -> dict[str, Any]: ...

    @abc.abstractmethod
    def send_feedback(self, feedback: dict[str, Any]) -> None: ...

    @abc.abstractmethod
    def disconnect(self) -> None: ...
