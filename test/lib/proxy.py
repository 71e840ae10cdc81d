"""A bad network between nodes: connections through it are slow, arrive in pieces and are cut at random."""
import asyncio
import random
import threading


class Proxy:
    """Listens, in its own thread, for each route (port to listen on, port to connect to). `cut_s`: the mean time after which a
    connection is cut, with the bytes in flight. After `heal` everything passes."""

    def __init__(self, roads, cut_s, seed):
        self.roads = roads
        self.cut_s = cut_s
        self.random = random.Random(seed)
        self.rough = True
        self.cuts = 0
        self.bytes = 0
        self.connections = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run)
        self.ready = threading.Event()
        self.over = None

    def __enter__(self):
        self.thread.start()
        self.ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()

    def heal(self):
        self.rough = False

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self):
        self.over = asyncio.Event()
        servers = [await asyncio.start_server(self._accept(to), "127.0.0.1", port) for port, to in self.roads]
        cutter = asyncio.create_task(self._cut())
        self.ready.set()
        await self.over.wait()
        cutter.cancel()
        for server in servers:
            server.close()
        for writers in list(self.connections):
            self._abort(writers)
        # Threads that still run notice that their connection has ended.
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)

    @staticmethod
    def _abort(writers):
        for writer in writers:
            writer.transport.abort()

    async def _cut(self):
        while True:
            await asyncio.sleep(self.random.uniform(0, 2 * self.cut_s))
            if self.rough and self.connections:
                self.cuts += 1
                self._abort(self.random.choice(sorted(self.connections, key=id)))

    def _accept(self, to):
        async def accept(reader, writer):
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", to)
            except OSError:
                writer.transport.abort()
                return
            writers = (writer, far_writer)
            self.connections.add(writers)
            await asyncio.gather(self._pass(reader, far_writer, writers), self._pass(far_reader, writer, writers))
            self.connections.discard(writers)
            self._abort(writers)
        return accept

    async def _pass(self, reader, writer, writers):
        try:
            while data := await reader.read(1 << 16):
                self.bytes += len(data)
                while data:
                    size = len(data)
                    if self.rough and self.random.random() < 0.2:
                        size = self.random.randint(1, min(size, 40))
                        await asyncio.sleep(self.random.uniform(0, 0.003))
                    writer.write(data[:size])
                    await writer.drain()
                    data = data[size:]
        except OSError:
            pass
        self._abort(writers)
