"""Holds the estimates for loads to programs of their mixes, on new file systems.

usage: make loads [ARGS=...], or, as root: python3 crates/bench/loads/check.py [OPTIONS]

A survey estimates each load on ext4, xfs and btrfs. Then programs of these mixes run on new file
systems of the same kinds: in every round each program on each of them, in random order. Prints a
table: for each program and pair of file systems, how many times as long the first of them takes as
the second, by the program and by the survey, and whether the ranking holds (both intervals lie on
the same side of 1), is contradicted (on opposite sides) or is not shown (one of them has 1 in it,
or the survey does not tell the two apart).
"""

import argparse
import fcntl
import itertools
import json
import os
import platform
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from programs import PROGRAMS, Program
from ratios import Estimate, Ratio, of_rounds, rank_of_interval, ranking
from stock import Stock, make_stock
from workshop import MKFS, made, workshop

ROOT = Path(__file__).resolve().parents[3]
OWN_NAMESPACE = "FSPRISM_LOADS_OWN_NAMESPACE"
NEEDED = (
    "random-read-??-cold,random-write-??-warm,append-fsync-4k,sequential-read-??-*,"
    "sequential-write-??-warm,create-100,unlink-100,open-close-100,stat-100,mkdir-100,"
    "readdir-100,new-file-*,read-file-*"
)
"""What the mixes are made of (crates/report/src/analysis/loads/known.rs)."""
LOADS = list(dict.fromkeys(program.load for program in PROGRAMS))

Times = dict[str, list[float]]
"""Seconds of a program's rounds, by file system."""


@dataclass(frozen=True)
class Row:
    """A program on two file systems, beside what the survey says of its load on them."""

    program: Program
    pair: tuple[str, str]
    measured: Ratio
    estimated: Estimate | None

    def cells(self) -> list[str]:
        estimated = str(self.estimated or "no interval")
        pair = f"{self.pair[1]} / {self.pair[0]}"
        says = ranking(self.measured, self.estimated)
        return [self.program.load, self.program.what, pair, str(self.measured), estimated, says]


def several(text: str) -> list[str]:
    return text.split(",")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="check.py", description="Hold estimates to programs.")
    parser.add_argument("--for", dest="loads", type=several, default=LOADS, metavar="LOADS")
    parser.add_argument("--targets", type=several, default=list(MKFS), metavar="KINDS")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="at least 6")
    parser.add_argument("--budget", default="5m", help="time for the survey")
    parser.add_argument("--scratch", type=Path, default=Path("/var/tmp"), metavar="DIR")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsprism", type=Path, default=ROOT / "target/release/fsprism")
    parser.add_argument("--survey", type=Path, metavar="FILE", help="use this JSON document")
    parser.add_argument("--save", type=Path, metavar="FILE", help="save everything as JSON")
    chosen = parser.parse_args()
    if rank_of_interval(chosen.rounds) == 0:
        parser.error(f"--rounds {chosen.rounds}: an interval needs at least 6")
    for name, known in (("loads", LOADS), ("targets", list(MKFS))):
        if unknown := set(getattr(chosen, name)) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; choose {', '.join(known)}")
    return chosen


def main() -> None:
    chosen = options()
    enter_own_namespace()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with workshop(chosen.scratch) as place:
        document = json.loads(survey(chosen, place))
        times = measure(chosen, place)
    rows = list(compared(document, times))
    print_table(rows, chosen)
    if chosen.save:
        chosen.save.write_text(json.dumps({"times": named(times), "loads": document["loads"]}))


def enter_own_namespace() -> None:
    """Begins again where mounts are this process's own, and end with it."""
    if os.environ.get(OWN_NAMESPACE) is None:
        os.environ[OWN_NAMESPACE] = "1"
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        os.execvp(command[0], command)


def survey(chosen: argparse.Namespace, place: Path) -> str:
    """The JSON document of a survey."""
    if chosen.survey:
        return chosen.survey.read_text()
    say(f"a survey of {', '.join(chosen.targets)} in {chosen.budget}")
    command = [chosen.fsprism, "survey", "--budget", chosen.budget, "--format", "json"]
    command += ["--for", ",".join(chosen.loads), "--benchmark", NEEDED]
    command += ["--scratch", chosen.scratch]
    command += ["--out", place / "survey", *chosen.targets]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def measure(chosen: argparse.Namespace, place: Path) -> dict[Program, Times]:
    """Every program on every file system in every round."""
    say("making what the programs are given")
    (place / "stock").mkdir()
    stock = make_stock(place / "stock")
    programs = [program for program in PROGRAMS if program.load in chosen.loads]
    times = {program: {kind: [] for kind in chosen.targets} for program in programs}
    rng = random.Random(chosen.seed)
    for at in range(chosen.rounds):
        say(f"round {at + 1} of {chosen.rounds}")
        one_round(times, place, stock, rng)
    return times


def one_round(
    times: dict[Program, Times], place: Path, stock: Stock, rng: random.Random
) -> None:
    """One more of each. The programs of all file systems follow each other closely, so that what
    else the machine does meets them alike."""
    programs = list(times)
    kinds = list(times[programs[0]])
    with ExitStack() as stack:
        stack.enter_context(turn())
        tops = stack.enter_context(made(place, kinds))
        for number, program in enumerate(rng.sample(programs, len(programs))):
            # The same choices on every file system.
            seed = rng.getrandbits(64)
            for kind in rng.sample(kinds, len(kinds)):
                directory = tops[kind] / str(number)
                directory.mkdir()
                seconds = program.seconds(directory, stock, random.Random(seed))
                times[program][kind].append(seconds)


@contextmanager
def turn() -> Iterator[None]:
    """What only one run of fsprism at a time has (crates/machine/src/measuring_lock.rs)."""
    directory = next((path for path in ("/run/lock", "/tmp") if os.path.isdir(path)), "/tmp")
    path = Path(directory) / "fsprism.lock"
    # Another user's file there may be opened, but not by asking to make it.
    if not path.exists():
        path.touch(0o644)
    with open(path, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compared(document: dict, times: dict[Program, Times]) -> Iterator[Row]:
    for program, of_kinds in times.items():
        for first, second in itertools.combinations(of_kinds, 2):
            estimated = estimate(document, program.load, first, second)
            measured = of_rounds(of_kinds[first], of_kinds[second])
            yield Row(program, (first, second), measured, estimated)


def estimate(document: dict, load: str, first: str, second: str) -> Estimate | None:
    """What the survey says of two file systems under a load."""
    for one in document["loads"]:
        for found in one["comparisons"]:
            is_asked = (one["name"], found["first"], found["second"]) == (load, first, second)
            if is_asked and found["interval"]:
                interval = found["interval"]
                ratio = Ratio(found["ratio"], interval["low"], interval["high"])
                return Estimate(ratio, found["verdict"].startswith("real"))
    return None


def print_table(rows: list[Row], chosen: argparse.Namespace) -> None:
    heads = ["load", "program", "pair", "by the program", "by the survey", "ranking"]
    table = [heads, *(row.cells() for row in rows)]
    widths = [max(len(line[at]) for line in table) for at in range(len(heads))]
    table.insert(1, ["-" * width for width in widths])
    for line in table:
        print("|", " | ".join(cell.ljust(width) for cell, width in zip(line, widths)), "|")
    rank = rank_of_interval(chosen.rounds)
    print(
        f"\n{chosen.rounds} rounds; medians of their ratios, between the {rank}. smallest and the "
        f"{rank}. largest; {os.cpu_count()} processors, {platform.system()} {platform.release()}"
    )


def named(times: dict[Program, Times]) -> list[dict]:
    return [
        {"load": program.load, "program": program.what, "seconds": of_kinds}
        for program, of_kinds in times.items()
    ]


def say(text: str) -> None:
    print(f"loads: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
