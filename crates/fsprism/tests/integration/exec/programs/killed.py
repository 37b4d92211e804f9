"""Kills writers of a database, or whatever works in the directory, at random moments.

usage: killed.py database|processes ROUNDS

Removes in the end what it has made.
"""

import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

MODES = ("delete", "wal", "truncate", "persist")
WRITERS = 2
WORKERS = 3

# What each worker does in a directory of its own, until it is killed.
WORK = """
mkdir -p "$0" && cd "$0" || exit 1
while :; do
    mkdir -p a/b c && for i in 1 2 3 4 5 6 7 8; do echo "$i" >a/b/$i; done
    cp -a a copy && tar cf all.tar a copy && tar xf all.tar -C c
    find . -type f -name '[1-4]' | sort >found && mv copy c/moved && ln -f found linked
    head -c 300000 /dev/zero >large && truncate -s 1000 large && cat a/b/* >>large
    exec 3<large; rm large; cat <&3 | wc -c >count; exec 3<&-
    rm -rf a c copy linked
done
"""


def write_to_database(writer, mode, tells):
    """Inserts numbers, and tells each that is committed."""
    database = sqlite3.connect("db", timeout=30, isolation_level=None)
    database.execute(f"pragma journal_mode={mode}")
    for number in range(1 << 30):
        database.execute("begin immediate")
        database.execute("insert into t values (?, ?, ?)", (writer, number, "x" * (number % 900)))
        if number % 5 == 4:
            database.execute("delete from t where writer = ? and number = ?", (writer, number - 4))
        database.execute("commit")
        os.write(tells, number.to_bytes(4, "little"))


def committed(told):
    """All numbers that were told."""
    numbers = []
    while text := os.read(told, 4):
        numbers.append(int.from_bytes(text, "little"))
    return numbers


def start(act):
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    return child


def database(rounds):
    total = 0
    for number in range(rounds):
        mode = MODES[number % len(MODES)]
        setup = sqlite3.connect("db", timeout=30, isolation_level=None)
        setup.execute(f"pragma journal_mode={mode}")
        setup.execute("drop table if exists t")
        setup.execute("create table t(writer, number, x, primary key (writer, number))")
        setup.close()
        writers = []
        for writer in range(WRITERS):
            told, tells = os.pipe()
            child = start(lambda: write_to_database(writer, mode, tells))
            os.close(tells)
            writers.append((writer, child, told))
        # Wait until all have begun, so that each round is about something.
        for _, _, told in writers:
            select.select([told], [], [])
        time.sleep(random.random() * 0.02)
        for _, child, _ in random.sample(writers, WRITERS):
            os.kill(child, signal.SIGKILL)
        for _, child, _ in writers:
            assert os.waitpid(child, 0)[1] == signal.SIGKILL, "a writer has ended by itself"
        checked = sqlite3.connect("db", timeout=30)
        assert checked.execute("pragma integrity_check").fetchall() == [("ok",)], mode
        for writer, _, told in writers:
            numbers = committed(told)
            os.close(told)
            # The last one may have been committed without having been told.
            there = checked.execute("select number from t where writer = ?", (writer,))
            there = sorted(number for (number,) in there.fetchall())
            count = len(numbers)
            all_of = [
                set(n for n in range(end) if n % 5 != 0 or n + 4 >= end)
                for end in (count, count + 1)
            ]
            assert set(there) in all_of, (mode, writer, count, there)
            total += count
        checked.close()
    for name in os.listdir("."):
        os.unlink(name)
    print(f"{total} transactions", file=sys.stderr)


def members(group):
    """The processes of a group."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                of = int(file.read().rpartition(")")[2].split()[2])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if of == group:
            found.append(int(name))
    return found


def processes(rounds):
    groups = set()

    def work(name):
        worker = subprocess.Popen(["sh", "-c", WORK, name], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        groups.add(worker.pid)
        return worker

    names = [f"worker-{number}" for number in range(WORKERS)]
    workers = [work(name) for name in names]
    kills = 0
    for _ in range(rounds):
        time.sleep(random.random() * 0.03)
        which = random.randrange(WORKERS)
        victims = members(workers[which].pid)
        if random.random() < 0.3 or not victims:
            os.killpg(workers[which].pid, signal.SIGKILL)
            workers[which].wait()
        else:
            try:
                os.kill(random.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                continue
        if workers[which].poll() is not None:
            # Its children may still be at work, beside those of the next.
            workers[which] = work(names[which])
        kills += 1
    for worker in workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    # Also what the workers have left that were killed before.
    while any(members(group) for group in groups):
        time.sleep(0.001)
    for name in names:
        shutil.rmtree(name)
    print(f"{kills} kills", file=sys.stderr)


if __name__ == "__main__":
    assert not os.listdir("."), "something is here, which this would remove"
    {"database": database, "processes": processes}[sys.argv[1]](int(sys.argv[2]))
    assert not os.listdir("."), os.listdir(".")
    print("all is right")
