"""What every request passes: size, host, origin and content type are checked, and answers carry strict headers."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 256 * 1024
# A refused body is read to its end up to this size and thrown away: a client that is still sending when the connection
# closes sees a broken pipe instead of the reason.
_MOST_BYTES_DISCARDED = 64 * MOST_BYTES
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class _TooLargeError(Exception):
    """A body that grew beyond the limit."""


class Guard:
    """ASGI middleware. With ``local_only``, the server is asked by the name of this machine alone.

    A page of another site could otherwise reach it under a name that leads to 127.0.0.1.
    """

    def __init__(self, application: Application, *, local_only: bool) -> None:
        self._application = application
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _discard_body(receive)
            await _refuse(_hardened(send), *refusal)
            return
        received = 0
        ended = False
        begun = False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal received, ended
            message = await receive()
            received += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if received > MOST_BYTES:
                raise _TooLargeError
            return message

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await _hardened(send)(message)

        try:
            await self._application(scope, counted, noted)
        except _TooLargeError:
            if not begun:
                if not ended:
                    await _discard_body(receive)
                await _refuse(_hardened(send), 413, _TOO_LARGE)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self._local_only and _name_of(host) not in _LOCAL_NAMES:
            return 421, f"This studio is for this machine; ask it by 127.0.0.1, not by {host[:100]!r}."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, _TOO_LARGE
        if scope["method"] not in _CHANGING:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, "The request comes from a page of another site."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "The request comes from a page of another site."
        kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if kind != "application/json":
            return 415, "Send JSON, with the content type application/json."
        return None


_TOO_LARGE = f"The request is larger than {MOST_BYTES // 1024} KB; send less at a time."


def _name_of(host: str) -> str:
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _hardened(send: Send) -> Send:
    async def hardened(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in present]
            if b"cache-control" not in present:
                more.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return hardened


async def _discard_body(receive: Receive) -> None:
    discarded = 0
    while discarded <= _MOST_BYTES_DISCARDED:
        message = await receive()
        discarded += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"detail": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
