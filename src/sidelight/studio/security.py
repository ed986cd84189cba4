"""Who may ask: names and tokens, sessions, and where requests may come from."""

import base64
import binascii
import hmac
import ipaddress
import json
import time
from hashlib import sha256
from typing import NamedTuple

COOKIE = "sidelight_session"
_SESSION_SECONDS = 30 * 24 * 3600


def is_loopback(host: str) -> bool:
    """Say whether only programs of this machine can reach a server that listens on a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Session(NamedTuple):
    """A session: its cookie, and the token that every change must carry beside it."""

    cookie: str
    csrf: str


class Gate(NamedTuple):
    """What lets people in.

    ``secret`` is that of the project: tokens follow from it, so that links stay valid after a restart. Where
    ``needs_token``, the server can be reached from other machines.
    """

    secret: bytes
    needs_token: bool

    def owner_token(self) -> str:
        """Return the token that lets its holder in under any name."""
        return self._signed("owner")

    def personal_token(self, annotator: str) -> str:
        """Return the token that lets its holder in under one name."""
        return self._signed(f"annotator {annotator}")

    def admits(self, token: str | None, annotator: str) -> bool:
        """Say whether a token is right for a name; on loopback none is needed."""
        if not self.needs_token:
            return True
        given = (token or "").encode("utf-8", "replace")
        allowed = (self.owner_token().encode(), self.personal_token(annotator).encode())
        return any(hmac.compare_digest(given, one) for one in allowed)

    def open_session(self, annotator: str) -> Session:
        """Return a new session of an annotator."""
        content = json.dumps([annotator, int(time.time()) + _SESSION_SECONDS], ensure_ascii=True).encode()
        body = base64.urlsafe_b64encode(content).decode().rstrip("=")
        cookie = f"{body}.{self._signed(f'session {body}')}"
        return Session(cookie, self._signed(f"csrf {cookie}"))

    def annotator_of(self, cookie: str | None) -> str | None:
        """Return who a session belongs to, None where it is not one of ours or has ended."""
        body, _, signature = (cookie or "").partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signed(f"session {body}").encode()):
            return None
        try:
            annotator, until = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        except (ValueError, binascii.Error):
            return None
        return str(annotator) if until > time.time() else None

    def allows_change(self, cookie: str, csrf: str | None) -> bool:
        """Say whether a request with this session carries its second token."""
        wanted = self._signed(f"csrf {cookie}").encode()
        return hmac.compare_digest((csrf or "").encode("utf-8", "replace"), wanted)

    def _signed(self, text: str) -> str:
        digest = hmac.new(self.secret, text.encode("utf-8", "replace"), sha256).digest()
        return base64.urlsafe_b64encode(digest[:24]).decode().rstrip("=")
