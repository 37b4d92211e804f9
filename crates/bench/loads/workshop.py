"""New file systems on loop devices of images without a name.

Mounts are made in this process's own mount namespace (`check.py` begins with one). An image is
deleted as soon as its loop device holds it, and the device is detached as soon as it is mounted,
which the kernel puts off until the last unmount. So whatever ends this process takes everything
with it. Nothing but a device that was made here of an empty image is ever formatted.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

# As fsprism makes them (crates/file-system/src/table.rs).
MKFS: dict[str, list[str]] = {
    "ext4": ["mkfs.ext4", "-F", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-f", "-q"],
    "btrfs": ["mkfs.btrfs", "-f", "-q"],
}
IMAGE_BYTES = 2 << 30


def run(*command: str | Path) -> str:
    """Runs a program; its output. Where it fails, what it said is in the error."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


@contextlib.contextmanager
def workshop(directory: Path) -> Iterator[Path]:
    """A directory for images, mount points and what programs are given; removed at the end."""
    place = Path(tempfile.mkdtemp(prefix="fsprism-loads-", dir=directory))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def made(place: Path, kinds: list[str]) -> Iterator[dict[str, Path]]:
    """New file systems of these kinds, by kind; gone at the end."""
    with contextlib.ExitStack() as stack:
        yield {kind: stack.enter_context(one(place, kind)) for kind in kinds}


@contextlib.contextmanager
def one(place: Path, kind: str) -> Iterator[Path]:
    """A new file system, mounted."""
    top = place / kind
    top.mkdir(exist_ok=True)
    device = attached(place / f"{kind}.img")
    try:
        run(*MKFS[kind], device)
        run("mount", "-t", kind, device, top)
    finally:
        # Of a mounted device, the kernel does it later.
        run("losetup", "--detach", device)
    try:
        yield top
    finally:
        run("umount", top)


def attached(image: Path) -> str:
    """A loop device of a new image, past the page cache of what holds the image."""
    try:
        with open(image, "xb") as file:
            file.truncate(IMAGE_BYTES)
        return run("losetup", "--find", "--show", "--direct-io=on", image)
    finally:
        image.unlink(missing_ok=True)


def sync(top: Path) -> None:
    """Writes everything back, so that nobody pays for what was done before."""
    run("sync", "--file-system", top)


def evict(top: Path) -> None:
    """Has the data of every file leave memory. Names and the file system's own structures stay, as
    in a survey."""
    sync(top)
    for directory, _, names in os.walk(top):
        for name in names:
            file = os.open(os.path.join(directory, name), os.O_RDONLY)
            try:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
