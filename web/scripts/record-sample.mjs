// Records fixtures/footprint-sample.bin.gz: which bytes of which cache lines one real program
// touches, from which call stacks. Run it as `node scripts/record-sample.mjs` where valgrind,
// binutils and bash are installed (Debian: also libc6-dbg, for the C library's symbols). Addresses
// and counts differ between versions of bash and of the C library; their shape does not.
//
// valgrind's lackey prints every instruction with its accesses. Stacks follow from that alone: an
// instruction that stores 8 bytes and is not followed by its successor was a call, one that loads
// them back from where the call put them was its return. Tail calls and jumps through the linkage
// table move no frame, they only change the function at the top.
import { execFileSync, spawnSync } from "node:child_process";
import { createReadStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { Footprint } from "./record-sample-footprint.mjs";
import { packed } from "./record-sample-pack.mjs";
import { symbolsOf } from "./record-sample-symbols.mjs";

const SCRIPT = `shopt -s globstar nullglob extglob
declare -A sizes
total=0
measured() { local first; read -r first < "$1"; sizes[$1]=\${#first}; (( total += \${#first} )); }
for entry in **; do
  case $entry in *.log|*~) continue ;; esac
  if [[ -f $entry && $entry =~ ^(.*)/f([0-9]+)$ ]]; then measured "$entry"; fi
done
trap 'echo end' EXIT
printf '%-20s %5d\\n' total "$total"
while IFS=/ read -r name rest; do :; done <<< "\${!sizes[*]}"
mapfile -t lines < a/x/f1
cd a && pwd && echo "\${lines[0]^^}" "\${entry//f/g}" "\${name:-none}" {1..4}
`;

/** A small tree, the same each time, for the script to look through. */
function makeTree(root) {
  for (const directory of ["a/x", "b/y"]) {
    mkdirSync(join(root, directory), { recursive: true });
    for (let index = 0; index < 3; index += 1) {
      writeFileSync(join(root, directory, `f${index}`), `line ${index} of ${directory}\n`);
    }
  }
  writeFileSync(join(root, "script"), SCRIPT);
}

function traced(root) {
  const log = join(root, "trace.log");
  const options = [
    "--tool=lackey",
    "--trace-mem=yes",
    "--child-silent-after-fork=yes",
    "-v",
    "-v",
    `--log-file=${log}`,
  ];
  const run = spawnSync("valgrind", [...options, "bash", "--norc", "script"], {
    cwd: root,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (run.status !== 0) throw new Error(`valgrind ended with ${run.status ?? run.error}`);
  return log;
}

async function footprintOf(log) {
  const footprint = new Footprint(symbolsOf(log));
  const lines = createInterface({ input: createReadStream(log) });
  for await (const line of lines) {
    const kind = line.slice(0, 3);
    if (kind !== "I  " && kind !== " L " && kind !== " S " && kind !== " M ") continue;
    const comma = line.indexOf(",");
    const address = Number.parseInt(line.slice(3, comma), 16);
    const size = Number(line.slice(comma + 1));
    if (kind === "I  ") footprint.instruction(address, size);
    else footprint.access(kind[1], address, size);
  }
  return footprint;
}

const root = mkdtempSync(join(tmpdir(), "footprint-"));
try {
  makeTree(root);
  const footprint = await footprintOf(traced(root));
  const version = (command) =>
    execFileSync(command, ["--version"], { encoding: "utf8" }).split("\n")[0];
  const about =
    `Recorded by scripts/record-sample.mjs: ${version("bash")} looking through a small tree, ` +
    `under the lackey tool of ${version("valgrind")}.`;
  const sample = gzipSync(packed(footprint, about), { level: 9 });
  writeFileSync(new URL("../fixtures/footprint-sample.bin.gz", import.meta.url), sample);
  console.log(`${footprint.describe()}, ${Math.ceil(sample.length / 1024)} KiB`);
} finally {
  rmSync(root, { recursive: true });
}
