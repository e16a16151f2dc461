"""Set up the log: buffered until the settings are known, then text or JSON on standard error, repeats held back, secrets hidden.

Nobody waits for whoever reads it: docs/decisions/0071-log-on-a-thread.md.
"""

from __future__ import annotations

import logging
import sys
import threading
from logging.handlers import MemoryHandler
from types import TracebackType
from typing import TYPE_CHECKING, Final

from transport.kept_log import KeptLog
from transport.line_writer import LineWriter, writer_of
from transport.log_format import JSON, JsonFormat, Redaction, TextFormat
from transport.log_limit import LineLimit, RepeatLimit

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BUFFERED: Final = 1_000  # lines

logger = logging.getLogger("hapticd")


class Log:
    """The log of one run. Between `begin` and `use` lines wait; main thread only, except for the lines themselves."""

    def __init__(self) -> None:
        self.redaction = Redaction()
        self._writer = writer_of(sys.stderr, self._notice)
        self._output = writer_of(sys.stdout)
        self.kept = KeptLog()
        self._handler = _Handler(self._writer, self.kept, JsonFormat(self.redaction))
        self._handler.setFormatter(TextFormat(self.redaction))
        self._handler.addFilter(RepeatLimit())
        self._buffer = MemoryHandler(MOST_BUFFERED, flushLevel=logging.CRITICAL + 1, target=self._handler)
        self.json = False

    def begin(self) -> None:
        """Take over every line of the process, warnings and uncaught errors included, and keep them until `use`."""
        _replace_handlers(self._buffer)
        logging.getLogger().setLevel(logging.INFO)
        logging.getLogger("tornado.access").setLevel(logging.ERROR)
        logging.getLogger("tornado.general").addFilter(LineLimit())
        logging.captureWarnings(capture=True)
        sys.excepthook = _uncaught
        threading.excepthook = _uncaught_in_thread
        sys.unraisablehook = _unraisable

    def use(self, form: str, level: str) -> None:
        """Write what waits, then each line as it comes; `form` is text or json, `level` a name of logging in any case."""
        self.json = form == JSON
        if self.json:
            self._handler.setFormatter(JsonFormat(self.redaction))
        logging.getLogger().setLevel(level.upper())
        self.write()

    def write(self) -> None:
        """Write what waits, for a start that ends before `use`."""
        _replace_handlers(self._handler)
        self._buffer.flush()

    def say(self, line: str) -> None:
        """Write a line to standard output."""
        if self._output is not None:
            self._output.put(line)

    def end(self) -> None:
        """Return once all lines are written, or shortly after when nobody reads them."""
        for writer in (self._output, self._writer):
            if writer is not None:
                writer.end()

    @property
    def dropped(self) -> int:
        """Lines that were dropped because nobody read those before them."""
        return sum(writer.dropped for writer in (self._writer, self._output) if writer is not None)

    def hide(self, secrets: Iterable[str]) -> None:
        """Never write these texts."""
        self.redaction.hide(secrets)

    def _notice(self, dropped: int) -> str:
        text = f"{dropped} lines of the log were dropped: nobody read those before them"
        record = logger.makeRecord(logger.name, logging.WARNING, "", 0, text, (), None)
        return self._handler.format(record)


class _Handler(logging.Handler):
    """A handler that hands lines over, and stays silent when that fails: logging's own complaint is no line of the log."""

    def __init__(self, writer: LineWriter | None, kept: KeptLog, members: JsonFormat) -> None:
        super().__init__()
        self._writer = writer
        self._kept = kept
        self._members = members

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the line over and keep it; the handler's lock is held."""
        try:
            if self._writer is not None:
                self._writer.put(self.format(record))
            self._kept.append(record.levelno, record.created, self._members.members(record))
        except Exception:  # noqa: BLE001 - as logging's own handlers
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a name of logging
        """Drop the line."""


def _replace_handlers(handler: logging.Handler) -> None:
    root = logging.getLogger()
    root.addHandler(handler)
    for other in root.handlers[:]:
        if other is not handler:
            root.removeHandler(other)


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    logger.critical("uncaught %s", kind.__name__, exc_info=(kind, error, traceback))


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or args.exc_type is SystemExit:
        return
    name = args.thread.name if args.thread is not None else "a thread"
    logger.critical("%s ended by %s", name, args.exc_type.__name__, exc_info=args.exc_value)


def _unraisable(args: sys.UnraisableHookArgs) -> None:
    logger.error("%s: %r", args.err_msg or "ignored an error", args.object, exc_info=args.exc_value)
