"""The socket that the studio listens on."""

import asyncio
import socket

import pytest

from sidelight.studio.server import bind


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_small_answers_are_sent_at_once(host):
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")

    async def delays():
        options = asyncio.get_running_loop().create_future()

        def accept(_, writer):
            options.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with bind(host, 0) as listener:
            async with await asyncio.start_server(accept, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
                no_delay = await options
                writer.close()
        return no_delay == 0

    assert not asyncio.run(delays())
