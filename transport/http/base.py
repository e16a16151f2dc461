"""Handle one HTTP exchange: access check, route, body, handler, envelope. Resources never see Tornado.

The body is read here, up to 64 KiB, so that a longer one gets our JSON error and Tornado parses no Content-Type.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPServerRequest
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler, stream_request_body

from actors.kit.errors import HapticError, InvalidInput
from fastpath.text.encoder import encode_json
from transport.http.call import NO_BODY, Answer, Call, Edge, Text, parse_body, wants_envelope
from transport.http.request_target import Target, parse_target, path_of
from transport.http.route import METHODS, Route, RouteTable, shown
from transport.security import Requester, cors_headers, is_preflight
from transport.tornado_ext.handler_cycles import break_cycles
from transport.tornado_ext.streams import stream_of
from transport.wire.envelope import (
    BodyTooLarge,
    Encoded,
    MethodNotAllowed,
    Notes,
    NotReady,
    answered,
    failure,
    headers_of,
    sentence_of,
    status_of,
)
from transport.wire.vocabulary import Vocabulary, vocabulary_named

if TYPE_CHECKING:
    from transport.http.admission import Admission

LONGEST_BODY: Final = 64 * 1024
# bytes; a longer answer is written in pieces, each after the client has read the one before.
PIECE: Final = 64 * 1024
MOST_DISCARDED: Final = 1024 * 1024
JSON: Final = "application/json"
# Tornado refuses to write a body after it, an empty one too.
NOT_MODIFIED: Final = 304

logger = logging.getLogger(__name__)


@stream_request_body
class HttpHandler(RequestHandler):
    """Tornado handler of every route of one port."""

    edge: Edge
    table: RouteTable

    def initialize(
        self,
        edge: Edge,
        table: RouteTable,
        requester: Requester,
        admission: Admission | None = None,
        refused: HapticError | None = None,
    ) -> None:
        """`table` holds the routes of the port; `refused` is the refusal of a request that admission stopped."""
        self.edge = edge
        self.table = table
        self._requester = requester
        self._admission = admission
        self._target: Target | None = None
        self._route: Route | None = None
        self._words: Mapping[str, str] = {}
        self._methods: tuple[str, ...] = METHODS
        self._refused = refused
        self._body = bytearray()
        self._received = 0
        self._answered = False
        self._is_finished = False
        self._rest = memoryview(b"")

    def set_default_headers(self) -> None:
        """Forbid caches to store answers and browsers to guess content types."""
        self.set_header("Server", "hapticd")
        self.set_header("Content-Type", JSON)
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Vary", "Origin")

    def compute_etag(self) -> None:
        """Return no ETag: answers are not cached."""

    # ------------------------------------------------------------ headers and body

    def prepare(self) -> None:
        """Refuse what can be refused without the body; a short body is still read, so that the connection stays usable."""
        connection = self.request.connection
        if isinstance(connection, HTTP1Connection):
            # Own limits: Tornado's answer to a long body has no text.
            connection.set_max_body_size(2**63 - 1)
        self._refused = self._refusal()
        if self._declared_length() > LONGEST_BODY:
            self._answer_early(BodyTooLarge(LONGEST_BODY))

    def data_received(self, chunk: bytes) -> None:
        """Collect the body while it is needed and short enough; discard the rest of a long one."""
        self._received += len(chunk)
        if self._received > LONGEST_BODY + MOST_DISCARDED:
            self._end()
        elif self._received > LONGEST_BODY:
            self._answer_early(BodyTooLarge(LONGEST_BODY))
        elif self._refused is None:
            self._body += chunk

    def _refusal(self) -> HapticError | None:
        """Return why the request is refused. Without a traceback, which would keep this handler in a reference cycle."""
        if self._refused is not None:
            return self._refused
        try:
            self._enter()
        except HapticError as error:
            error.__context__ = None
            return error.with_traceback(None)
        return None

    def _enter(self) -> None:
        """Parse the target and find its route; HapticError."""
        if is_preflight(self._requester):
            # For any path: a page can read a refusal only if its preflight passes.
            return
        method = self.request.method or ""
        if method == "CONNECT" and not (self.request.uri or "").startswith("/"):
            raise MethodNotAllowed(method, METHODS)
        self._target = parse_target(self.request.uri or "")
        resource, self._words = self.table.find(self._target.segments)
        self._methods = resource.allowed
        if method == "OPTIONS":
            return
        self._route = resource.route(method)
        if not self._route.always and not self.edge.bridge.answers:
            raise NotReady

    def _declared_length(self) -> int:
        text = self.request.headers.get("Content-Length", "")
        return int(text[:18]) if text.isascii() and text.isdigit() else 0

    def _answer_early(self, error: HapticError) -> None:
        """Answer while the body still arrives: closing at once would lose an answer that the client has not read yet."""
        if self._answered:
            return
        self._answered = True
        self._refused = self._refused or error
        self._write_failure(self._refused)
        if self.request.headers.get("Expect", "").lower() == "100-continue":
            self._end()
        else:
            self.flush()

    def _end(self) -> None:
        if not self._is_finished:
            self.finish()  # pyright: ignore[reportUnknownMemberType]

    def on_connection_close(self) -> None:
        """Stop waiting for the body."""
        super().on_connection_close()
        break_cycles(self)

    def on_finish(self) -> None:
        """Note that the answer has been handed over whole."""
        self._is_finished = True

    # ------------------------------------------------------------ the answer

    async def answer(self) -> None:
        """Run the route's handler and send its answer."""
        if self._answered:
            self._end()
            return
        try:
            if self._refused is None:
                await self._serve()
            else:
                self._write_failure(self._refused)
        except HapticError as error:
            self._write_failure(error)
        except Exception as error:
            logger.exception("%s failed", logged(self.request))
            self._write_failure(error)
        await self._write_rest()

    get = head = post = put = patch = delete = options = answer

    async def _serve(self) -> None:
        target, route = self._target, self._route
        if target is None or route is None:
            self._write(200, b"", {"Allow": ", ".join(self._methods)})
            return
        envelope = wants_envelope(target.query, default=route.enveloped)
        call = Call(
            edge=self.edge,
            words=self._words,
            query=target.query,
            body=parse_body(bytes(self._body)) if route.reads_body or route.refuses_body else NO_BODY,
            peer=self.request.remote_ip or "",
            vocabulary=self._vocabulary(target.query),
            version=target.version,
            headers=self.request.headers,
            path=self.request.path,
        )
        if route.refuses_body:
            call.refuse_body()
        answer = await route.handler(call)
        if isinstance(answer, Answer):
            notes = Notes(call.unknown_keys, route.deprecation)
            self._write(answer.status, answered(answer.data, envelope=envelope, notes=notes, error=answer.error))
        elif envelope:
            self._write(200, answered(Encoded(encode_json(answer.in_envelope)), envelope=True))
        else:
            self._write_text(answer)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer Tornado's own refusals (unknown method, failures outside of `answer`) as JSON errors."""
        del kwargs
        if status_code != 405:
            self._write_failure(RuntimeError())
            return
        refused = self._refusal()
        if refused is not None:
            self._write_failure(refused)

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Log exceptions that are not refusals, without Tornado's text of the request, which has the query."""
        if typ is not None and value is not None and not isinstance(value, HTTPError):
            logger.error("%s failed", logged(self.request), exc_info=(typ, value, tb))

    def _vocabulary(self, query: Mapping[str, str]) -> Vocabulary:
        name = query.get("vocabulary")
        if name is None:
            name = self.edge.bridge.settings.text("serialization/vocabulary")
        vocabulary = vocabulary_named(name)
        if vocabulary is None:
            raise InvalidInput("give neutral, inverse or auto.", "?vocabulary=")
        return vocabulary

    def _write_failure(self, error: Exception) -> None:
        notes = Notes(deprecation=None if self._route is None else self._route.deprecation)
        self._write(status_of(error), failure(self._said(sentence_of(error)), notes), headers_of(error))

    def _said(self, sentence: str) -> str:
        """Return the sentence in the vocabulary that the request asked for, if it was parsed so far."""
        try:
            return self._vocabulary({} if self._target is None else self._target.query).said(sentence)
        except HapticError:
            return sentence

    def _write_text(self, text: Text) -> None:
        self._write(text.status, text.content, {"Content-Type": text.content_type, **text.headers})

    def _write(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.set_status(status)
        cors = cors_headers(self._requester, self.edge.access.rules, self._methods)
        for name, value in {**cors, **(headers or {}), "Content-Length": str(len(body))}.items():
            self.set_header(name, value)
        self._goes_on(len(body))
        self._rest = memoryview(body)[PIECE:]
        if status != NOT_MODIFIED:
            self.write(body[:PIECE])  # pyright: ignore[reportUnknownMemberType]

    async def _write_rest(self) -> None:
        """Write the remaining pieces, each after the one before has left; other connections are served in between."""
        while self._rest and self.request.method != "HEAD":
            try:
                await self.flush()
            except StreamClosedError:
                return
            await self._turn()
            self._goes_on(len(self._rest))
            piece, self._rest = self._rest[:PIECE], self._rest[PIECE:]
            self.write(bytes(piece))  # pyright: ignore[reportUnknownMemberType]

    async def _turn(self) -> None:
        """Wait for the next turn of the event loop and of the request queue."""
        await asyncio.sleep(0)
        if self._admission is not None:
            await self._admission.queue.turn()

    def _goes_on(self, size: int) -> None:
        stream = stream_of(self.request.connection)
        if self._admission is not None and stream is not None:
            self._admission.unsent.goes_on(stream, size)


def logged(request: HTTPServerRequest) -> str:
    """Return method and path for a log line: no query, no user name of an absolute target, no method of the client's own making."""
    method = request.method if request.method in METHODS else "another method"
    return f"{method} {shown(path_of(request.uri or ''))}"
