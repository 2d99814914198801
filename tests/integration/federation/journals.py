"""journals.py - reads the programs' journals from outside: by SQLite and a few lines of protocol buffers.

It is written from proto/journal.proto alone, so that the programs' journals are not judged by the
programs' own code.
"""

import hashlib
import pathlib
import shutil
import sqlite3
import struct

PIECE_BITS = 20
WAL_HEADER = 32
FRAME_HEADER = 24


def fields(data):
    """Yields (number, value) of one message: ints, or bytes for what has a length."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<q", data, at)[0]
            at += 8
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        else:
            raise ValueError("a wire type that the journal does not use")


def record(body):
    """One record as a dictionary; `kind` is job, answer, round, roster, survivors or keys."""
    kinds = {2: ("job", {1: "job", 2: "nonce", 3: "text_digest", 4: "text", 5: "text_bytes", 6: "trees", 7: "shares", 8: "protocol"}),
             3: ("answer", {1: "job", 2: "round", 3: "task", 4: "epsilon_micro", 5: "delta_atto", 6: "pass",
                            7: "row_first", 8: "row_count", 9: "invitation", 10: "answer",
                            11: "answer_bytes", 12: "mechanism", 13: "neighbours", 14: "sigma_micro",
                            15: "count", 16: "sampling_nano", 17: "masks_bytes", 18: "shift"}),
             4: ("round", {1: "job", 2: "round", 3: "failed", 4: "chosen", 6: "sum", 7: "blob_bytes",
                           8: "duration_ms", 9: "cause", 10: "records", 11: "cancelled"}),
             5: ("roster", {1: "job", 2: "round", 3: "bytes", 4: "width"}),
             6: ("survivors", {1: "job", 2: "round", 3: "set"}),
             7: ("keys", {1: "job", 2: "round", 3: "invitation", 4: "bytes"})}
    out = {}
    wall_ms = 0
    for number, value in fields(body):
        if number == 1:
            wall_ms = value
        if number not in kinds:
            continue
        kind, names = kinds[number]
        out = {"kind": kind, "round": 0, "agents": [], "away": [], "wall_ms": wall_ms}
        for inner, content in fields(value):
            if kind == "round" and inner in (5, 12):
                out["agents" if inner == 5 else "away"].append(content.decode())
            else:
                out[names[inner]] = content
        packed = out.get("sum", b"")
        out["sum"] = struct.unpack(f"<{len(packed) // 8}q", packed)
    return out


def words(blob, count):
    """The numbers of an answer: words of 2, 4 or 8 bytes."""
    size = {2 * count: "h", 4 * count: "i", 8 * count: "q"}
    return struct.unpack(f"<{count}{size[len(blob)]}", blob)


def read(folder):
    """All records of a journal as (sequence, record, blob), oldest first; the blob is None when dropped, or when it is
    so large (256 KiB) that a sealed file has it."""
    database = sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True)
    try:
        return read_open(database)
    finally:
        database.close()


def read_open(database):
    out = []
    for sequence, body, blob_bytes in database.execute(
            "SELECT sequence, body, blob_bytes FROM record ORDER BY sequence").fetchall():
        pieces = database.execute("SELECT bytes FROM piece WHERE id >= ? AND id < ? ORDER BY id",
                                  (sequence << PIECE_BITS, sequence + 1 << PIECE_BITS)).fetchall()
        blob = b"".join(piece[0] for piece in pieces)
        out.append((sequence, record(body), blob if len(blob) == blob_bytes else None))
    return out


class Witness:
    """Holds a journal open, so that its write-ahead log keeps every commit, to be looked at afterwards."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.database = None

    def attach(self):
        """Returns whether the journal is there by now; then it is held."""
        if not (self.folder / "journal.db").exists():
            return False
        database = sqlite3.connect(f"file:{self.folder}/journal.db?mode=ro", uri=True)
        try:
            if database.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                database.execute("SELECT count(*) FROM record").fetchone()
                self.database = database
                return True
        except sqlite3.Error:
            pass
        database.close()
        return False

    def commits(self):
        """Yields the journal as it was after each commit, as read_open gives it."""
        copy = self.folder / "past"
        log = (self.folder / "journal.db-wal").read_bytes()
        page_bytes = struct.unpack_from(">I", log, 8)[0]
        salt = log[16:24]
        at = WAL_HEADER
        copy.mkdir()
        while at + FRAME_HEADER + page_bytes <= len(log) and log[at + 8:at + 16] == salt:
            pages_after = struct.unpack_from(">I", log, at + 4)[0]
            at += FRAME_HEADER + page_bytes
            if pages_after == 0:
                continue
            shutil.copy(self.folder / "journal.db", copy / "journal.db")
            (copy / "journal.db-wal").write_bytes(log[:at])
            (copy / "journal.db-shm").unlink(missing_ok=True)
            database = sqlite3.connect(copy / "journal.db")
            try:
                if database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'piece'").fetchone()[0]:
                    yield read_open(database)
            finally:
                database.close()
        shutil.rmtree(copy)

    def close(self):
        if self.database is not None:
            self.database.close()
            self.database = None


def digest(data):
    """The digest of an answer: SHA-256, and of more than a leaf that of its tree (docs/PROTOCOL.md, section 3)."""
    leaf = 1 << 16
    if len(data) <= leaf:
        return hashlib.sha256(data).digest()
    leaves = (hashlib.sha256(data[at:at + leaf]).digest() for at in range(0, len(data), leaf))
    return hashlib.sha384(struct.pack("<Q", len(data)) + b"".join(leaves)).digest()[:32]
