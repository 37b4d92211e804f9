"""What Python's library does with files, directories and processes."""

import compileall
import fcntl
import glob
import mmap
import multiprocessing
import os
import pathlib
import select
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

HERE = os.getcwd()


def written(number):
    with open(f"by-{number}", "w") as file:
        file.write(str(number))
    return number * number


def write(name, content):
    with open(name, "w") as file:
        file.write(content)


def names_and_trees():
    os.makedirs("a/b/c")
    write("a/b/c/f", "hello")
    print([(entry.name, entry.is_dir()) for entry in os.scandir("a")])
    print(os.path.realpath("a/../a/b")[len(HERE):])
    shutil.copytree("a", "z")
    print(sorted(os.listdir("z")))
    shutil.rmtree("z")
    with tempfile.TemporaryDirectory(dir=".") as place:
        write(place + "/x", "1")
        print(os.listdir(place))
    with tempfile.NamedTemporaryFile(dir=".") as file:
        file.write(b"abc")
        file.flush()
        print(os.stat(file.name).st_size)
    os.symlink("/etc", "etc")
    print(os.path.exists("etc/passwd"), os.path.realpath("etc/passwd"))
    os.symlink("..", "up")
    print(os.path.realpath("up") == os.path.dirname(HERE))
    print(pathlib.Path("a").resolve().relative_to(HERE), sorted(pathlib.Path("a").rglob("*")))


def memory():
    with open("m", "w+b") as file:
        file.truncate(10000)
        with mmap.mmap(file.fileno(), 10000) as mapped:
            mapped[5000:5005] = b"world"
            file.seek(5000)
            print(file.read(5))
            file.seek(1)
            file.write(b"xy")
            file.flush()
            print(mapped[0:4])


def processes():
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            print(pool.map(written, range(6)))
    print(sorted(glob.glob("by-*")))
    print(subprocess.run(["cat", "a/b/c/f"], capture_output=True).stdout)
    print(subprocess.run("wc -c <m", shell=True, capture_output=True).stdout)
    try:
        subprocess.run(["nonexistent-program"])
    except FileNotFoundError as why:
        print(why.errno)
    with open("both", "w") as both:
        subprocess.run(["sh", "-c", "echo out; echo err >&2"], stdout=both, stderr=both)
    print(open("both").read())


def locks():
    first = os.open("l", os.O_RDWR | os.O_CREAT)
    fcntl.flock(first, fcntl.LOCK_EX)
    fcntl.lockf(first, fcntl.LOCK_EX)
    child = os.fork()
    if child == 0:
        try:
            fcntl.lockf(os.open("l", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
            os._exit(1)
        except OSError:
            os._exit(0)
    print(os.waitpid(child, 0)[1])
    os.close(first)


def descriptors():
    reads, writes = os.pipe()
    file = os.open("m", os.O_RDONLY)
    print(select.select([file, reads], [writes], [], 5) == ([file], [writes], []))
    poll = select.poll()
    poll.register(file)
    print(poll.poll(100) == [(file, 5)])
    # The lowest number that is free.
    print(os.dup(file) == file + 1, os.open("m", 0) == file + 2)
    os.close(file)
    print(os.open("m", 0) == file, os.dup2(file, 50), os.fstat(50).st_size)
    sys.stdout.flush()
    os.sendfile(1, file, 5000, 5)
    print()
    directory = os.open("a", os.O_RDONLY)
    print(os.stat("b/c/f", dir_fd=directory).st_size, os.listdir(directory))
    os.fchdir(directory)
    print(os.getcwd()[len(HERE):])
    os.chdir("..")
    print(os.readlink(f"/proc/self/fd/{directory}")[len(HERE):])


def attributes():
    try:
        os.rename("m", "/tmp/m")
    except OSError as why:
        print(why.errno)
    os.utime("m", (10**9, 10**9 + 2))
    print(os.stat("m").st_mtime)
    print(os.access("m", os.W_OK))


def libraries():
    os.mkdir("package")
    write("package/__init__.py", "x = 1\n")
    compileall.compile_dir("package", quiet=1)
    sys.path.insert(0, ".")
    print(__import__("package").x)
    shutil.rmtree("package")
    with zipfile.ZipFile("z.zip", "w") as archive:
        archive.write("m")
    print(zipfile.ZipFile("z.zip").namelist())
    os.remove("z.zip")
    database = sqlite3.connect("q")
    database.execute("create table t (a)")
    database.commit()
    print(os.stat("q").st_size)


if __name__ == "__main__":
    for step in (names_and_trees, memory, processes, locks, descriptors, attributes, libraries):
        step()
