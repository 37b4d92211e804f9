"""What programs are given, made once: archives, a database, a film, messages, and the web server's
program. All of it is random bytes or words of a fixed seed, so that every target has the same."""

import io
import random
import sqlite3
import tarfile
from dataclasses import dataclass
from pathlib import Path

from workshop import run

KIB = 1024
ROWS = 8_192
ROW_BYTES = 7_000
"""Of a page of 8 KiB, so that no page has two rows."""
FILM_BYTES = 128 << 20
SOURCE_TREES, SOURCE_DIRECTORIES, SOURCES = 30, 20, 70
SOURCE_BYTES = 200 * KIB // SOURCES
IMAGE_DIRECTORIES, IMAGE_FILES = 30, 100
IMAGE_FILE_BYTES = 32 * KIB


@dataclass(frozen=True)
class Stock:
    """Where it lies."""

    database: Path
    film: Path
    sources: Path
    image: Path
    web: Path


def make_stock(place: Path) -> Stock:
    """Makes all of it in an empty directory."""
    stock = Stock(*(place / name for name in ("database", "film", "sources", "image", "web")))
    rng = random.Random(1)
    make_database(stock.database, rng)
    make_film(stock.film, rng)
    make_sources(stock.sources, rng)
    make_image(stock.image, rng)
    run("cc", "-O2", "-o", stock.web, Path(__file__).parent / "web.c")
    return stock


def make_database(path: Path, rng: random.Random) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF;")
    connection.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity BLOB)")
    rows = ((row, rng.randbytes(ROW_BYTES)) for row in range(ROWS))
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO stock VALUES (?, ?)", rows)
    connection.execute("COMMIT")
    connection.close()


def make_film(path: Path, rng: random.Random) -> None:
    scene = rng.randbytes(4 << 20)
    with open(path, "wb") as file:
        for _ in range(FILM_BYTES // len(scene)):
            file.write(scene)


def make_sources(path: Path, rng: random.Random) -> None:
    """Trees of the Andrew benchmark: 70 files of 200 KB together in 20 directories."""
    words = [bytes(rng.choices(b"abcdefghij", k=7)) for _ in range(1000)]
    with tarfile.open(path, "w") as archive:
        for tree in range(SOURCE_TREES):
            for at in range(SOURCE_DIRECTORIES):
                add_directory(archive, f"t{tree}/d{at}")
            for at in range(SOURCES):
                text = b"\n".join(rng.choices(words, k=SOURCE_BYTES // 8))
                add_file(archive, f"t{tree}/d{at % SOURCE_DIRECTORIES}/s{at}.c", text)


def make_image(path: Path, rng: random.Random) -> None:
    with tarfile.open(path, "w") as archive:
        for at in range(IMAGE_DIRECTORIES):
            add_directory(archive, f"d{at}")
            for file in range(IMAGE_FILES):
                add_file(archive, f"d{at}/f{file}", rng.randbytes(IMAGE_FILE_BYTES))


def add_directory(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    archive.addfile(entry)


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
