"""Which state of the sources is packaged."""

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNRELEASED = "Unreleased"


@dataclass
class Changes:
    """A part of CHANGELOG.md."""

    # A version, or UNRELEASED.
    version: str
    # When it was released, as in 2026-12-01; empty if it was not.
    date: str
    items: list


@dataclass
class Source:
    """A state of the sources."""

    # As in Cargo.toml.
    version: str
    # The id of the commit, and when it was made, in seconds since 1970.
    commit: str
    seconds: int
    # The newest first.
    changes: list
    # Whether git has them. If not, they were unpacked from an archive.
    is_in_git: bool

    @property
    def debian_version(self):
        """A snapshot's comes before that of the release that it leads to."""
        if self.changes[0].version == self.version:
            return f"{self.version}-1"
        when = time.strftime("%Y%m%d%H%M%S", time.gmtime(self.seconds))
        return f"{self.version}~{when}.{self.commit[:8]}-1"


def read_source():
    """The state that this directory is in."""
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE)[1]
    words = (ROOT / "crates/fsprism/build/commit.txt").read_text().split()
    is_in_git = words[0].startswith("$")
    if is_in_git:
        words = git("show", "--no-patch", "--format=%H %cs %ct", "HEAD").split()
        if git("status", "--porcelain", "--untracked-files=no"):
            print("packaging: what is not committed is not in the source archive, and the "
                  "version does not show it", file=sys.stderr)
    commit, _, seconds = words
    changes = parse_changes((ROOT / "CHANGELOG.md").read_text())
    expected = [UNRELEASED, version]
    if changes[0].version not in expected:
        sys.exit(f"packaging: CHANGELOG.md begins with {changes[0].version}, which is neither "
                 f"{' nor '.join(expected)}")
    return Source(version, commit, int(seconds), changes, is_in_git)


def git(*words):
    """What git prints."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def parse_changes(text):
    """The parts of a changelog: `## VERSION (DATE)`, then items that begin with a dash."""
    parts = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        version, _, date = heading.partition(" ")
        items = re.split(r"^- ", body, flags=re.MULTILINE)[1:]
        items = [" ".join(item.split()) for item in items]
        parts.append(Changes(version, date.strip("()"), items))
    return parts
