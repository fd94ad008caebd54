"""A small embeddings server on 127.0.0.1 that speaks OpenAI's protocol and fails on demand.

Texts that share words have similar vectors, so a search over them makes sense.
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.embeddings.replies import Failure, Reply, Request, embeddings, error, vector


class EmbeddingServer:
    """Serves in its own threads within `with`. Set the attributes at any time."""

    def __init__(self, *, dimensions: int = 1536) -> None:
        self.dimensions = dimensions
        """Default of the model; a client may request others, unless `only_own_dimensions`."""
        self.only_own_dimensions = False
        self.model: str | None = None
        """The only model; None accepts any."""
        self.requests: list[Request] = []
        self._failures: deque[Failure] = deque()
        self._always: Failure | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts received so far, in order."""
        return [text for request in self.requests for text in request.texts]

    def fail_next(self, *failures: Failure) -> None:
        """The next requests fail, one failure each."""
        self._failures.extend(failures)

    def fail_always(self, failure: Failure | None) -> None:
        """Make every request fail from now on, after those of `fail_next`; None stops it."""
        self._always = failure

    def stop_failing(self) -> None:
        self._failures.clear()
        self._always = None

    def stall(self, request: Request, reply: Reply) -> Reply:
        """A failure: the reply is sent when the server closes."""
        self._closing.wait()
        return reply

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            failure = self._failures.popleft() if self._failures else self._always
        reply = self._right_reply(request)
        return failure(request, reply) if failure else reply

    def _right_reply(self, request: Request) -> Reply:
        texts = request.texts
        if request.path != "/v1/embeddings":
            return error(404, f"Invalid URL (POST {request.path})")
        if self.model is not None and request.body.get("model") != self.model:
            return error(404, f"The model `{request.body.get('model')}` does not exist", code="model_not_found")
        if not texts or not all(texts):
            return error(400, "'$.input' is invalid. Please check the API reference.")
        if self.only_own_dimensions and "dimensions" in request.body:
            return error(400, "This model does not support specifying dimensions.")
        dimensions = int(request.body.get("dimensions") or self.dimensions)
        return embeddings([vector(text, dimensions) for text in texts], model=request.body.get("model"))


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.answer(Request(self.path, headers, json.loads(body)))
            try:
                self._send(reply)
            except ConnectionError:
                self.close_connection = True  # the client timed out

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) + reply.missing))
            self.end_headers()
            self.wfile.write(reply.body)
            self.close_connection = self.close_connection or reply.missing > 0

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing: the requests are recorded."""

    return Handler
