#!/usr/bin/env python3
"""rival - what bench_rounds compares with: rounds of averaging by a simple program with pyzmq.

    rival.py AGENTS NUMBERS ROUNDS

CURVE, float32, whole vectors in one message, nothing durable, no noise. A server sends everybody the average, gets
everybody's vector and averages them. Prints the least and the median milliseconds of a round, and the processor's
milliseconds a round of all processes. Ends with 77 where numpy or pyzmq is missing.
"""
import os
import statistics
import sys
import time

try:
    import numpy
    import zmq
except ImportError as missing:
    print(missing)
    sys.exit(77)


def agent(number, numbers, port, server_public, rounds):
    socket = zmq.Context().socket(zmq.DEALER)
    socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
    socket.curve_serverkey = server_public
    socket.connect(f"tcp://127.0.0.1:{port}")
    socket.send(b"hello")
    answer = numpy.arange(numbers, dtype=numpy.float32) + number
    for _ in range(rounds):
        model = numpy.frombuffer(socket.recv(copy=False), dtype=numpy.float32)
        assert len(model) == numbers
        socket.send(answer, copy=False)
    socket.recv()
    os._exit(0)


def main():
    agents, numbers, rounds = (int(word) for word in sys.argv[1:])
    public, secret = zmq.curve_keypair()
    ready, told = os.pipe()
    children = []
    for number in range(agents):
        children.append(os.fork())
        if children[-1] == 0:
            agent(number, numbers, int(os.read(ready, 5)), public, rounds)
    socket = zmq.Context().socket(zmq.ROUTER)
    socket.curve_publickey, socket.curve_secretkey, socket.curve_server = public, secret, True
    port = socket.bind_to_random_port("tcp://127.0.0.1", min_port=10000)
    for _ in range(agents):
        os.write(told, b"%d" % port)
    routes = [socket.recv_multipart()[0] for _ in range(agents)]
    model = numpy.zeros(numbers, dtype=numpy.float32)
    took = []
    for _ in range(rounds):
        before = time.perf_counter()
        for route in routes:
            socket.send(route, zmq.SNDMORE)
            socket.send(model, copy=False)
        total = numpy.zeros(numbers, dtype=numpy.float32)
        for _ in range(agents):
            socket.recv()
            total += numpy.frombuffer(socket.recv(copy=False), dtype=numpy.float32)
        model = total / agents
        took.append(1e3 * (time.perf_counter() - before))
    for route in routes:
        socket.send_multipart([route, b"end"])
    for child in children:
        os.waitpid(child, 0)
    times = os.times()
    busy = 1e3 * (times.user + times.system + times.children_user + times.children_system) / rounds
    print(f"{min(took):.3f} {statistics.median(took):.3f} {busy:.3f}")
    os._exit(0)


main()
