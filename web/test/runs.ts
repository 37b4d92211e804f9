// Runs and pages to look at, made by the real program in target/web-test.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const root = resolve(import.meta.dirname, "../..");
const target = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target"));

/** Where everything that the tests make is kept. */
export const place = join(target, "web-test");
/** Where screenshots of every view are kept, to be looked at. */
export const screenshots = join(target, "web-screenshots");

/** A label that would be markup or script if labels were ever treated as such. */
export const HOSTILE = '</script><img src=x onerror="globalThis.hostile=1">';

const binary = process.env.FSPRISM ?? join(target, "debug/fsprism");

/** Runs fsprism, and returns what it prints. */
export function fsprism(...words: string[]): string {
  return execFileSync(binary, words, {
    cwd: place,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Whether scratch targets can be made here. */
export const isRoot = process.getuid?.() === 0;

/** Whether to reuse the runs of the last time instead of measuring, for work on the page. */
const isKept = process.env.KEEP_RUNS !== undefined;

/** Makes a new run directory. Status 1 means that a cell failed, which may only happen if something
 * else on the machine evicted its pages. */
function measured(name: string, ...words: string[]): string {
  if (isKept && existsSync(join(place, name, "cells.jsonl"))) {
    fsprism("report", name);
    return join(place, name);
  }
  try {
    fsprism(...words, "--out", name);
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error;
    const lines = readFileSync(join(place, name, "cells.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const failed = lines
      .map((line) => JSON.parse(line))
      .filter((line) => line.kind === "cell-failed");
    if (!failed.every((line) => /pages were resident in a warm/.test(line.why))) throw error;
  }
  return join(place, name);
}

export interface Runs {
  /** A survey of several targets, with enough blocks for intervals. */
  survey: string;
  /** Curves with warm-ups, observations and laws. */
  curves: string;
  /** A search for cliffs. */
  cliff: string;
  /** A survey with traces of its targets, and a file that is not one. */
  traced: string;
  /** Not a run: a page that compares traces. */
  compared: string;
  /** A network file system in every state of its caches, as it was recorded. */
  network: string;
  /** A job file of fio. */
  jobs: string;
  /** A survey with a hostile label. */
  hostile: string;
}

/** Measures all of them. */
export function makeRuns(): Runs {
  if (!existsSync(binary)) throw new Error(`${binary} is not there: cargo build -p fsprism`);
  if (!isKept) rmSync(place, { recursive: true, force: true });
  rmSync(screenshots, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  mkdirSync(screenshots, { recursive: true });
  const paths = [`one=${place}`, "two=/dev/shm"];
  const targets = isRoot ? ["tmpfs", "ext4", "xfs", "btrfs"] : paths;
  // Benchmarks that need no cache state which the rest of the machine could disturb.
  const names = "random-read-4k-warm,sequential-write-4k-warm,create-100,stat-100,open-close-100";
  const brief = ["--benchmark", names, "--blocks", "2"];
  const limited = isRoot ? ["ext4:memory=64m", "xfs:memory=64m"] : paths;
  return {
    survey: measured("survey", "survey", ...targets, "--size", "16m", "--blocks", "6"),
    curves: measured("curves", "run", "nano/scaling", ...targets.slice(0, 2), "--budget", "50s"),
    cliff: measured("cliff", "cliff", limited[0] as string, "--low", "32m", "--high", "128m"),
    traced: withTraces(measured("traced", "survey", `ext4=${place}`, "xfs=/dev/shm", ...brief)),
    compared: compared(),
    network: recorded("network", "fscache-run.json.gz"),
    jobs: measured("jobs", "run", jobFile(), "/dev/shm", "--blocks", "1"),
    hostile: relabelled(measured("hostile", "survey", "harmless=/dev/shm", ...brief)),
  };
}

/** A job file, one line of which would be markup if it were ever treated as such. */
export const JOBS = `[global]
size=256k
; <b>small</b>

[reads]
rw=randread
`;

function jobFile(): string {
  writeFileSync(join(place, "jobs.fio"), JOBS);
  return "jobs.fio";
}

/** A run that was measured elsewhere. */
function recorded(name: string, fixture: string): string {
  const packed = readFileSync(new URL(`../fixtures/${fixture}`, import.meta.url));
  const { manifest, cells } = JSON.parse(gunzipSync(packed).toString("utf8"));
  const run = join(place, name);
  mkdirSync(run, { recursive: true });
  const plain = withoutChecksum(JSON.stringify(manifest));
  writeFileSync(join(run, "manifest.json"), JSON.stringify(plain));
  writeFileSync(join(run, "cells.jsonl"), cells);
  fsprism("report", name);
  return run;
}

/** A run with traces computed by hand, as a run of footprints leaves them. */
function withTraces(run: string): string {
  cpSync(join(root, "crates/report/tests/fixtures"), join(run, "footprint"), { recursive: true });
  writeFileSync(join(run, "footprint/other.trace"), "no trace");
  fsprism("report", run);
  return run;
}

/** A directory with the page that compares two traces. */
function compared(): string {
  const directory = join(place, "compared");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const fixture = (name: string) => join(root, "crates/report/tests/fixtures", name);
  const page = join(directory, "report.html");
  fsprism("footprint", "diff", fixture("ext4.trace"), fixture("xfs.trace"), "--out", page);
  return directory;
}

/** A manifest as it was before there were checksums, so that it can be changed. */
function withoutChecksum(text: string) {
  const { crc32: _checksum, ...manifest } = JSON.parse(text);
  return manifest;
}

/** A run whose label was changed by hand, as the command line does not accept such labels. */
function relabelled(run: string): string {
  const path = join(run, "manifest.json");
  const manifest = withoutChecksum(readFileSync(path, "utf8"));
  for (const target of manifest.targets) target.label = HOSTILE;
  for (const cell of manifest.cells) cell.target = HOSTILE;
  writeFileSync(path, JSON.stringify(manifest));
  fsprism("report", run);
  return run;
}

interface Line {
  kind: string;
  cell?: number;
  block?: number;
  at_s?: number;
  pilots?: { cell: number }[];
}

/** A run as large as those of users, made from the values of a smaller one: 4 targets with 60
 * benchmarks and this many blocks. */
export function enlarged(run: string, name: string, blocks: number): string {
  const path = join(place, name);
  cpSync(run, path, { recursive: true });
  const manifest = withoutChecksum(readFileSync(join(run, "manifest.json"), "utf8"));
  const lines = readFileSync(join(run, "cells.jsonl"), "utf8").trimEnd().split("\n");
  // Removes the line numbers and checksums, which would no longer match, as in older journals.
  const plain = lines.map((line) => line.replace(/,"line":\d+,"crc32":\d+}$/, "}"));
  const journal = plain.map((line) => JSON.parse(line) as Line);
  const labels = manifest.targets.map((one: { label: string }) => one.label);
  const cells: unknown[] = [];
  const sources: number[] = [];
  for (const label of labels) {
    const own = manifest.cells.flatMap((cell: { target: string }, index: number) =>
      cell.target === label ? index : [],
    );
    for (let place = 0; place < 60; place += 1) {
      const source = own[place % own.length] as number;
      const again = Math.floor(place / own.length);
      const cell = structuredClone(manifest.cells[source]);
      if (again > 0) {
        cell.benchmark += `-${again + 1}`;
        cell.title += `, once more (${again + 1})`;
      }
      cells.push(cell);
      sources.push(source);
    }
  }
  const written: Line[] = journal.filter((line) => line.kind === "start");
  const measured = journal.filter((line) => line.kind === "replicate");
  sources.forEach((source, cell) => {
    const own = measured.filter((line) => line.cell === source);
    for (let block = 0; block < blocks && own.length > 0; block += 1) {
      const one = own[block % own.length] as Line;
      written.push({ ...one, cell, block, at_s: block * 10 + cell / 30 });
    }
  });
  written.push(...journal.filter((line) => line.kind === "end"));
  writeFileSync(join(path, "manifest.json"), JSON.stringify({ ...manifest, cells }));
  writeFileSync(
    join(path, "cells.jsonl"),
    written.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  // Logs are stored under the index of their cell.
  const logs = (at: string, index: number) =>
    join(at, "histograms", `${String(index).padStart(4, "0")}.hlog`);
  sources.forEach((source, cell) => {
    if (existsSync(logs(run, source))) cpSync(logs(run, source), logs(path, cell));
  });
  return path;
}
