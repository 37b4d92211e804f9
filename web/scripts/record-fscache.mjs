// Records fixtures/fscache-run.json.gz: a run of `fsprism run fscache` with its manifest and its
// journal, as `node scripts/record-fscache.mjs RUN`, where RUN is its directory. It was measured as
// `fsprism run fscache --benchmark file,tree,cull --file 1m --tree 60x1500 --link 50mbit,delay=1ms
// --runs 2`, which takes six minutes in guests.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [run] = process.argv.slice(2);
if (run === undefined) throw new Error("name the directory of a run");
const manifest = JSON.parse(readFileSync(join(run, "manifest.json"), "utf8"));
manifest.run.arguments[0] = "fsprism";
const cells = readFileSync(join(run, "cells.jsonl"), "utf8");
const text = JSON.stringify({ manifest, cells });
const fixture = new URL("../fixtures/fscache-run.json.gz", import.meta.url);
writeFileSync(fixture, gzipSync(text, { level: 9 }));
