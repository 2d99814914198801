"""libpq.py - asks a PostgreSQL server by the library that the programs use, and keeps the connection for the next question.

A process of psql for each question took a quarter of the processor time of the tests beside a server.
"""

import ctypes
import os
import threading

CONNECTION_OK = 0
DONE = (0, 1, 2)  # nothing was asked, a command, rows

library = ctypes.CDLL("libpq.so.5")
for name, answers, takes in (("PQconnectdb", ctypes.c_void_p, [ctypes.c_char_p]), ("PQfinish", None, [ctypes.c_void_p]),
                             ("PQstatus", ctypes.c_int, [ctypes.c_void_p]), ("PQclear", None, [ctypes.c_void_p]),
                             ("PQsendQuery", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
                             ("PQgetResult", ctypes.c_void_p, [ctypes.c_void_p]), ("PQresultStatus", ctypes.c_int, [ctypes.c_void_p]),
                             ("PQntuples", ctypes.c_int, [ctypes.c_void_p]), ("PQnfields", ctypes.c_int, [ctypes.c_void_p]),
                             ("PQgetvalue", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int])):
    function = getattr(library, name)
    function.restype, function.argtypes = answers, takes


class Connection:
    """One to a server."""

    def __init__(self, url):
        self.url = url
        self.process = os.getpid()
        self.handle = library.PQconnectdb(url.encode())

    def __del__(self):
        if self.process == os.getpid():  # a case is a fork, and must not end what its parent asks by
            library.PQfinish(self.handle)

    def is_good(self):
        return self.process == os.getpid() and library.PQstatus(self.handle) == CONNECTION_OK

    def query(self, command):
        """A line for each row of all statements, with | between columns; None when one fails."""
        said, well = "", library.PQsendQuery(self.handle, command.encode()) == 1
        while result := library.PQgetResult(self.handle):
            well = well and library.PQresultStatus(result) in DONE
            for row in range(library.PQntuples(result)):
                values = (library.PQgetvalue(result, row, column) for column in range(library.PQnfields(result)))
                said += "|".join(value.decode() for value in values) + "\n"
            library.PQclear(result)
        return said if well else None


kept = threading.local()  # each thread's own, to the server that it asked last


def psql(url, command):
    """What the server answers, as `psql -qAt` prints it; None when it refuses, or when it is not there."""
    connection = getattr(kept, "connection", None)
    if connection is not None and connection.url == url and connection.is_good():
        said = connection.query(command)
        if connection.is_good():
            return said
    # Somebody cut the connection, or the server was another one: a statement that it did not hear is asked again.
    kept.connection = Connection(url)
    return kept.connection.query(command) if kept.connection.is_good() else None
