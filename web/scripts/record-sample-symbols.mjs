// Names what lies at an address of the recorded program: a symbol, else the object it belongs to.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** The stack of a 64-bit program under valgrind begins just below this address. */
const STACK_FROM = 0x1ff0000000;

/** A function from addresses to names, for the objects that the log says were mapped. */
export function symbolsOf(log) {
  const { ranges, objects } = readObjects(log);
  ranges.sort((left, right) => left.from - right.from);
  const known = new Map();
  return (address) => {
    let name = known.get(address);
    if (name === undefined) {
      name = named(address, ranges, objects);
      known.set(address, name);
    }
    return name;
  };
}

function named(address, ranges, objects) {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle].from <= address) low = middle + 1;
    else high = middle;
  }
  // Symbols of one address differ in size: one that ends too early does not hide its neighbour.
  for (let index = low - 1; index >= Math.max(0, low - 4); index -= 1) {
    if (address < ranges[index].end) return ranges[index].name;
  }
  const object = objects.find((one) => address >= one.from && address < one.end);
  if (object) return `in ${object.name}`;
  return address >= STACK_FROM ? "stack" : "heap";
}

function readObjects(log) {
  const ranges = [];
  const objects = [];
  const mapped = /Reading syms from (\S+)\n.*svma (0x[0-9a-f]+), avma (0x[0-9a-f]+)/g;
  const seen = new Set();
  for (const [, path, linked, actual] of readFileSync(log, "latin1").matchAll(mapped)) {
    if (seen.has(path) || path.includes("lackey-")) continue;
    seen.add(path);
    const bias = Number(actual) - Number(linked);
    objects.push(extentOf(path, bias));
    for (const source of [path, debugFileOf(path)]) {
      if (source) ranges.push(...symbolsIn(source, bias, source === path));
    }
  }
  return { ranges, objects };
}

function run(command, ...args) {
  return execFileSync(command, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function extentOf(path, bias) {
  const loads = [...run("readelf", "-lW", path).matchAll(/LOAD\s+\S+ (0x\S+) \S+ \S+ (0x\S+)/g)];
  const ends = loads.map(([, from, size]) => Number(from) + Number(size));
  const from = bias + Number(loads[0][1]);
  return { name: basename(path), from, end: bias + Math.max(...ends) };
}

function symbolsIn(path, bias, isDynamic) {
  const options = isDynamic ? ["-D", "-S", "--defined-only"] : ["-S", "--defined-only"];
  return run("nm", ...options, path)
    .split("\n")
    .map((line) => line.split(" "))
    .filter(
      ([, size, kind]) => /^[0-9a-f]{16}$/.test(size ?? "") && /^[tTwWiIbBdDrRvVuU]$/.test(kind),
    )
    .map(([address, size, , name]) => {
      const from = bias + Number.parseInt(address, 16);
      return { from, end: from + Number.parseInt(size, 16), name: name.replace(/@.*/, "") };
    });
}

function debugFileOf(path) {
  const id = /Build ID: ([0-9a-f]+)/.exec(run("readelf", "-n", path))?.[1];
  if (!id) return null;
  const file = `/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`;
  return existsSync(file) ? file : null;
}
