"""A program for each load, doing the load's mix of operations for itself.

Each prepares what it needs in an empty directory of the target, untimed and written back, and
returns the seconds that the rest took. Where a mix reads what is not in memory, the data of the
files have left it before.
"""

import mailbox
import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stock import IMAGE_DIRECTORIES, IMAGE_FILES, KIB, ROW_BYTES, ROWS, Stock
from workshop import evict, sync


@dataclass(frozen=True)
class Program:
    """A program of a load's mix."""

    load: str
    what: str
    seconds: Callable[[Path, Stock, random.Random], float]


def timed(command: list[str | Path], text: str | None = None) -> float:
    """Seconds that a program takes, given this text to read."""
    began = time.perf_counter()
    output = subprocess.DEVNULL
    words = [str(word) for word in command]
    subprocess.run(words, input=text, text=True, stdout=output, check=True)
    return time.perf_counter() - began


TRANSACTIONS = 60
READS, WRITES = 19, 10


def database(journal: str) -> Callable[[Path, Stock, random.Random], float]:
    """Transactions that read 19 rows, one to a page, and update ten of these."""

    def seconds(top: Path, stock: Stock, rng: random.Random) -> float:
        path = top / "database"
        shutil.copyfile(stock.database, path)
        rows = rng.sample(range(ROWS), TRANSACTIONS * READS)
        content = rng.randbytes(ROW_BYTES)
        evict(top)
        began = time.perf_counter()
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA journal_mode = {journal}").fetchall()
        # What it remembers for itself is little more than a transaction's.
        connection.executescript("PRAGMA synchronous = FULL; PRAGMA cache_size = 64;")
        for at in range(0, len(rows), READS):
            transaction(connection, rows[at : at + READS], content)
        connection.close()
        return time.perf_counter() - began

    return seconds


def transaction(connection: sqlite3.Connection, rows: list[int], content: bytes) -> None:
    connection.execute("BEGIN")
    for row in rows:
        connection.execute("SELECT quantity FROM stock WHERE id = ?", (row,)).fetchall()
    for row in rows[:WRITES]:
        connection.execute("UPDATE stock SET quantity = ? WHERE id = ?", (content, row))
    connection.execute("COMMIT")


MESSAGES, DELIVERIES = 500, 100


def mail(top: Path, stock: Stock, rng: random.Random) -> float:
    """Deliveries to a Maildir, each with an append to one message, two read and one deleted."""
    box = mailbox.Maildir(top / "mail", create=True)
    head = b"Subject: none\n\n"
    message = head + b"a" * (16 * KIB - len(head))
    for at in range(MESSAGES):
        (top / "mail/new" / f"{at}.here").write_bytes(message)
    keys = box.keys()
    rng.shuffle(keys)
    sync(top)
    began = time.perf_counter()
    for at in range(DELIVERIES):
        appended, read, deleted = keys[3 * at : 3 * at + 3]
        box.discard(deleted)
        box.add(message[: 8 * KIB])
        box.get_bytes(appended)
        append(top / "mail/new" / appended, message[-8 * KIB :])
        box.get_bytes(read)
    return time.perf_counter() - began


def append(path: Path, text: bytes) -> None:
    with open(path, "ab") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def build(top: Path, stock: Stock, rng: random.Random) -> float:
    """The phases of the Andrew benchmark; copying the sources stands for what compiling them reads
    and writes, so that the copies are to share no blocks with them."""
    sources, objects = top / "sources", top / "objects"
    sources.mkdir()
    sync(top)
    unpacked = timed(["tar", "-x", "-f", stock.sources, "-C", sources])
    examined = timed(["find", sources, "-ls"])
    # grep ends with 1 where it finds nothing.
    read = timed(["grep", "-r", "-c", "a", sources])
    compiled = timed(["cp", "-r", "--reflink=never", sources, objects])
    return unpacked + examined + read + compiled


def media(top: Path, stock: Stock, rng: random.Random) -> float:
    """One film from its first byte to its last."""
    shutil.copyfile(stock.film, top / "film")
    evict(top)
    return timed(["dd", f"if={top / 'film'}", "of=/dev/null", "bs=256K", "status=none"])


WEB_DIRECTORIES, WEB_FILES, WEB_PAGES = 20, 100, 40_000


def web(top: Path, stock: Stock, rng: random.Random) -> float:
    """Pages of 16 KiB, all in memory, and 8 KiB of a log after every ten."""
    text = rng.randbytes(16 * KIB)
    for directory in range(WEB_DIRECTORIES):
        (top / f"d{directory}").mkdir()
        for page in range(WEB_FILES):
            (top / f"d{directory}/p{page}").write_bytes(text)
    sync(top)
    command = [stock.web, top, str(WEB_DIRECTORIES), str(WEB_FILES)]
    # Every page is looked up and read once before.
    timed([*command, str(WEB_PAGES // 5), "0"])
    sync(top)
    return timed([*command, str(WEB_PAGES), str(rng.randrange(1, 1 << 30))])


STARTED_SHARE = 0.064


def container(top: Path, stock: Stock, rng: random.Random) -> float:
    """An image unpacked, and 6.4 % of its files read after they have left memory."""
    sync(top)
    unpacked = timed(["tar", "-x", "-f", stock.image, "-C", top])
    evict(top)
    files = range(IMAGE_DIRECTORIES * IMAGE_FILES)
    chosen = rng.sample(files, round(STARTED_SHARE * len(files)))
    paths = [f"{top}/d{at // IMAGE_FILES}/f{at % IMAGE_FILES}" for at in chosen]
    return unpacked + timed(["xargs", "cat", "--"], "\n".join(paths))


PROGRAMS = [
    Program("database", "sqlite3, rollback journal", database("DELETE")),
    Program("database", "sqlite3, write-ahead log", database("WAL")),
    Program("mail", "Python's mailbox.Maildir", mail),
    Program("build", "tar, find, grep, cp", build),
    Program("media", "dd", media),
    Program("web", "web.c", web),
    Program("container", "tar, cat", container),
]
