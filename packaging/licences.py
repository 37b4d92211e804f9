"""The licences of what is linked into the program, or embedded in it."""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"
# Offered beside others, this one is chosen: its text is part of Debian, and it asks for no notices
# beyond those in a NOTICE file.
PREFERRED = "Apache-2.0"
APACHE = re.compile(r" *Apache License\s+Version 2\.0,.*?END OF TERMS AND CONDITIONS", re.DOTALL)


def linked_packages():
    """The packages from elsewhere whose code is in the program, sorted by name."""
    words = [str(ROOT / "scripts/cargo"), "metadata", "--format-version=1", "--locked"]
    words.append(f"--filter-platform={TARGET}")
    found = json.loads(subprocess.run(words, check=True, capture_output=True, cwd=ROOT).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    depends = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    seen, ahead = set(), [one["id"] for one in found["packages"] if one["name"] == "fsprism"]
    while ahead:
        package = ahead.pop()
        if package in seen:
            continue
        seen.add(package)
        for edge in depends[package]:
            is_linked = any(kind["kind"] is None for kind in edge["dep_kinds"])
            if is_linked and not is_macro(packages[edge["pkg"]]):
                ahead.append(edge["pkg"])
    linked = [packages[package] for package in seen if packages[package]["source"]]
    return sorted(linked, key=lambda one: (one["name"], one["version"]))


def is_macro(package):
    """Whether it only runs in the compiler."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def notices(package):
    """The texts of its licence, as it is distributed."""
    directory = Path(package["manifest_path"]).parent
    names = [file for file in directory.iterdir() if re.match(r"LICEN[CS]E|COPYING", file.name)]
    plain = [file for file in names if "MIT" in file.name] or names
    text = "\n".join(file.read_text().strip() for file in sorted(plain))
    # Some quote all of the licence that everybody has anyway.
    return APACHE.sub("[The terms of the Apache License, Version 2.0]", text)


def of_others():
    """What the licences of others ask to be said."""
    chosen, texts = ["Rust's standard library"], []
    for package in linked_packages():
        title = f"{package['name']} {package['version']}"
        if PREFERRED in package["license"]:
            chosen.append(title)
        else:
            texts.append(f"{title} ({package['license']}):\n\n{notices(package)}")
    listed = f"Under the Apache License, Version 2.0: {', '.join(chosen)}."
    page = (ROOT / "crates/report/assets/licences.txt").read_text()
    return "\n\n".join([listed, *texts, f"In the page that runs are reported on:\n\n{page}"])
