"""A TCP proxy between a driver and the server that sees what a driver's own interface does not show.

It forwards bytes, notes which compressors the driver's messages use, and loses one reply: to the first message that holds MARKER. The
server has carried that statement out by then; the driver sees its connection close, and has to send a retryable write again.
"""
import socket
import struct
import threading

MARKER = b"lose this reply"
OP_COMPRESSED = 2012
COMPRESSORS = {1: "snappy", 2: "zlib", 3: "zstd"}
HEADER = struct.Struct("<iiii")  # length, request id, response to, opcode


class Proxy:
    """Listens on a free port of the loopback interface until close()."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.compressors = set()
        self.replies_lost = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # closed
                return
            Connection(self, client)

    def look_at(self, message):
        """Whether the reply to this message is the one to lose."""
        if HEADER.unpack_from(message)[3] == OP_COMPRESSED:
            self.compressors.add(COMPRESSORS.get(message[HEADER.size + 8], "unknown"))
        with self.lock:
            lose = self.replies_lost == 0 and MARKER in message
            self.replies_lost += lose
        return lose


class Connection:
    """One client's connection: a thread per direction, until either end closes."""

    def __init__(self, proxy, client):
        self.proxy, self.client, self.lose = proxy, client, False
        self.server = socket.create_connection(("127.0.0.1", proxy.server_port))
        for work in (self.requests, self.replies):
            threading.Thread(target=self.until_closed, args=(work,), daemon=True).start()

    def until_closed(self, work):
        try:
            work()
        except OSError:
            pass
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def requests(self):
        while message := read_message(self.client):
            self.lose = self.proxy.look_at(message) or self.lose
            self.server.sendall(message)

    def replies(self):
        while message := read_message(self.server):
            if self.lose:
                return
            self.client.sendall(message)


def read_message(stream):
    """One whole message, or nothing at the end of the stream."""
    header = read_exactly(stream, HEADER.size)
    return header and header + read_exactly(stream, HEADER.unpack(header)[0] - HEADER.size)


def read_exactly(stream, size):
    data = bytearray()
    while len(data) < size:
        part = stream.recv(size - len(data))
        if not part:
            return b""
        data += part
    return bytes(data)
