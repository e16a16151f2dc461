"""HTTP operations over a blocking socket."""

from __future__ import annotations

import time
from typing import Any, Final, TypeVar

from hapticd_client.core.address import Address
from hapticd_client.core.http import VERSION, Answer, Checked, Operation, Pause, Request, check_same, encode
from hapticd_client.errors import HapticsError, NoService
from hapticd_client.transports.blocking import connected

T = TypeVar("T")
READ_BYTES: Final = 65536


class BlockingHttp:
    """HTTP of one service."""

    def __init__(self, address: Address, token: str | None, timeout: float) -> None:
        """`timeout`: s for each request with its answer."""
        self._address, self._token, self._timeout = address, token, timeout
        self._instance: str | None = None

    def be_of(self, instance: str | None) -> None:
        """Ask the service with this instance id alone, which is checked once, before the next operation."""
        self._instance = instance

    def run(self, operation: Operation[T]) -> T:
        """Run an operation to its end. NoService, Refused, InvalidCommand, WrongInstance."""
        if self._instance is not None:
            check_same(self._instance, self.exchange(VERSION), self._address)
            self._instance = None
        checked = Checked(operation, self._address)
        try:
            step = checked.first()
            while True:
                try:
                    answer = self._do(step)
                except HapticsError as error:
                    step = checked.failed(error)
                else:
                    step = checked.after(answer)
        except StopIteration as done:
            result: T = done.value
            return result

    def _do(self, step: Request | Pause) -> Any:
        return time.sleep(step.seconds) if isinstance(step, Pause) else self.exchange(step)

    def exchange(self, request: Request) -> Any:
        """Return the data of one answer. NoService, Refused."""
        deadline = time.monotonic() + self._timeout
        with connected(self._address, self._timeout) as connection:
            answer = Answer(self._address)
            try:
                connection.sendall(encode(request, self._address, self._token))
                whole = False
                while not whole:
                    connection.settimeout(max(1e-3, deadline - time.monotonic()))
                    whole = answer.take(connection.recv(READ_BYTES))
            except TimeoutError:
                raise NoService(
                    f"The service at {self._address.place} did not answer {request.method} {request.path} within {self._timeout:g} s: see its log."
                ) from None
            except OSError as error:
                raise NoService(
                    f"The connection to {self._address.place} ended within an answer ({error.strerror or error}): try again."
                ) from None
        return answer.data()
