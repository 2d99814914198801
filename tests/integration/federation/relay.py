"""relay.py - stands on the wire between agents and a coordinator: at the coordinator's ports, on another address of this machine.

It cannot read what it carries, except the lengths of a line's records (docs/PROTOCOL.md, section 10). A test gives it a way
to treat what goes to the agents over lines, or a rate. Every connection has two threads, which end with it.
"""

import contextlib
import socket
import threading
import time

PIECE = 64 * 1024


def own_host(host):
    """An address for a federation's coordinator that no other test uses."""
    parts = host.split(".")
    return ".".join([parts[0], str(int(parts[1]) + 120)] + parts[2:])


class Ended(Exception):
    """A connection ended, or is to end."""


def take(source, count):
    """So many bytes, or Ended."""
    parts = []
    while count > 0:
        try:
            part = source.recv(count)
        except OSError:
            raise Ended from None
        if not part:
            raise Ended
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def give(sink, data):
    try:
        sink.sendall(data)
    except OSError:
        raise Ended from None


class Counted:
    """One end of a connection, and how much has come from it."""

    def __init__(self, end, counts, port):
        self.end = end
        self.counts = counts
        self.port = port

    def recv(self, count):
        data = self.end.recv(count)
        self.counts[self.port] += len(data)
        return data


def pass_on(source, sink, wait=None):
    """Carries what comes until the connection ends. wait: called with the bytes of each part, before it goes on."""
    while True:
        try:
            data = source.recv(PIECE)
        except OSError:
            return
        if not data:
            return
        if wait is not None:
            wait(len(data))
        give(sink, data)


class Relay:
    """Used in a with statement. ways: for a port, a function (source, sink) that carries what comes from the coordinator and
    returns, or raises Ended, to end the connection. rate: bytes a second of all that it passes on, or None."""

    def __init__(self, host, target, ports, ways=None, rate=None):
        self.host = host
        self.target = target
        self.ways = ways or {}
        self.rate = rate
        self.to_agents = {port: 0 for port in ports}  # bytes so far
        self.to_coordinator = {port: 0 for port in ports}
        self.open = set()
        self.turn = threading.Lock()
        self.listeners = []
        for port in ports:
            listener = socket.create_server((host, port))
            self.listeners.append(listener)
            threading.Thread(target=self.accept, args=(listener, port), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.cut()

    def cut(self):
        """Ends what is open now."""
        for one in list(self.open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def accept(self, listener, port):
        while True:
            try:
                agent, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(agent, port), daemon=True).start()

    def carry(self, agent, port):
        with agent:
            try:
                coordinator = socket.create_connection((self.target, port), 10)
            except OSError:
                return
            with coordinator:
                coordinator.settimeout(None)
                for one in (agent, coordinator):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.open.add(one)
                back = threading.Thread(target=self.run, args=(coordinator, agent, port, self.to_agents), daemon=True)
                back.start()
                self.run(agent, coordinator, port, self.to_coordinator)
                back.join()
                self.open -= {agent, coordinator}

    def run(self, source, sink, port, counts):
        way = self.ways.get(port, pass_on) if counts is self.to_agents else pass_on
        wait = (self.wait,) if way is pass_on and self.rate is not None else ()
        with contextlib.suppress(Ended):
            way(Counted(source, counts, port), sink, *wait)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def wait(self, count):
        with self.turn:
            time.sleep(count / self.rate)
