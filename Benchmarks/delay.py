"""A TCP proxy that delays what goes through it, for Benchmarks/stores."""
import asyncio


class Proxy:
    """Forwards connections from a local port to another one, and delays each direction by half of a round trip."""

    def __init__(self, target):
        self.target = target
        self.delay = 0.0  # seconds for one direction
        self.connections = 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            await asyncio.sleep(2 * self.delay)  # a handshake is a round trip
            there = await asyncio.open_connection("127.0.0.1", self.target)
            await asyncio.gather(self.pump(reader, there[1]), self.pump(there[0], writer))
        except OSError:
            pass
        finally:
            writer.close()

    async def pump(self, reader, writer):
        clock = asyncio.get_running_loop().time
        waiting = asyncio.Queue(maxsize=64)

        async def send():
            while (item := await waiting.get()) is not None:
                due, data = item
                if (rest := due - clock()) > 0:
                    await asyncio.sleep(rest)
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()

        sending = asyncio.create_task(send())
        try:
            while data := await reader.read(1 << 18):
                await waiting.put((clock() + self.delay, data))
        except OSError:
            pass
        await waiting.put(None)
        try:
            await sending
        except OSError:
            writer.close()
