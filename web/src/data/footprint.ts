// What was traced, selected by the address, and its stacks in the form that widgets take.

import type { CachemapData, StackTree } from "../charts/cachemap/layout";
import type {
  Cachemap,
  CachemapOf,
  ComparedTraces,
  Difference,
  FlameGraph,
  FlameWeight,
} from "../contract";
import type { Report } from "./model";
import { floats, unsigned, unsigned64 } from "./payload";
import type { FootprintRoute } from "./route";
import type { Selection } from "./selection";

/** A target or program, with what was traced of it. */
export interface Subject {
  /** A unique label, which includes the run's name if there are several runs. */
  label: string;
  operations: Map<string, Operation>;
}

/** One operation of a subject. */
export interface Operation {
  cachemaps: Map<CachemapOf, Cachemap>;
  /** By what the frames stand for. */
  graphs: Map<string, FlameGraph>;
}

/** The operation name of a trace of a whole program. Its functions are not the kernel's, so the
 * kernel's categories do not apply to them. */
const PROGRAM = "program";

/** The part of what was traced that is shown. It always exists. */
export interface Shown {
  subjects: Subject[];
  subject: Subject;
  operation: string;
  /** The subject that it is compared with, if there is one and it has the operation too. */
  against: Subject | null;
  frames: string;
  weight: string;
  /** What changed, on a page of comparisons. */
  difference: Difference | null;
}

/** Everything that was traced of the targets that are shown, in the order of the page. */
export function subjectsOf(report: Report, selection: Selection): Subject[] {
  const subjects = new Map<string, Subject>();
  const { cachemaps, flame_graphs } = report.payload;
  const operationOf = ({ traced }: Cachemap | FlameGraph): Operation | null => {
    const isIts = (side: { run: number; target: string }) =>
      side.run === traced.run && side.target === traced.target;
    const side = report.sides.find(isIts);
    if (side !== undefined && !selection.sides.some(isIts)) return null;
    const label = side?.label ?? traced.target;
    const subject = subjects.get(label) ?? { label, operations: new Map() };
    subjects.set(label, subject);
    const operation: Operation = subject.operations.get(traced.operation) ?? {
      cachemaps: new Map(),
      graphs: new Map(),
    };
    subject.operations.set(traced.operation, operation);
    return operation;
  };
  for (const map of cachemaps) operationOf(map)?.cachemaps.set(map.of, map);
  for (const graph of flame_graphs) operationOf(graph)?.graphs.set(graph.frames, graph);
  return [...subjects.values()];
}

/** What an address shows; null if nothing was traced. On a page of comparisons, this is one of
 * them, the first if the address does not name one. */
export function shownOf(
  subjects: Subject[],
  route: FootprintRoute,
  compared?: ComparedTraces | null,
): Shown | null {
  const labels = compared?.differences.map(({ after }) => after);
  const known = subjects.filter(({ label }) => labels?.includes(label) ?? true);
  const subject = known.find(({ label }) => label === route.traced) ?? known[0];
  if (subject === undefined) return null;
  const operations = [...subject.operations.keys()];
  const operation = operations.find((name) => name === route.operation) ?? operations[0] ?? "";
  const isIts = (one: Difference) => one.after === subject.label && one.operation === operation;
  const difference = compared?.differences.find(isIts) ?? null;
  const wanted = compared ? difference?.before : route.against;
  const isOther = (one: Subject) => one.label === wanted && one !== subject;
  const against = subjects.find((one) => isOther(one) && one.operations.has(operation)) ?? null;
  const graphs = subject.operations.get(operation)?.graphs ?? new Map<string, FlameGraph>();
  const kinds = [...graphs.keys()];
  const usual = operation === PROGRAM ? kinds.find((name) => name === "functions") : kinds[0];
  const frames = kinds.find((name) => name === route.frames) ?? usual ?? kinds[0];
  const weights = graphs.get(frames ?? "")?.weights ?? [];
  const weight = weights.find(({ name }) => name === route.weight) ?? weights[0];
  return {
    subjects: known,
    subject,
    operation,
    against,
    frames: frames ?? "",
    weight: weight?.name ?? "",
    difference,
  };
}

/** The stacks of the page. */
export function stacksOf({ payload: { stacks }, block }: Report): StackTree {
  return { parent: unsigned(block, stacks.parent), name: unsigned(block, stacks.name) };
}

/** A cachemap in the form that its widget takes. */
export function cachemapOf(report: Report, map: Cachemap): CachemapData {
  const { block } = report;
  return {
    title: map.title,
    of: map.of,
    line_bytes: map.line_bytes,
    names: report.payload.stacks.names,
    stacks: stacksOf(report),
    address: unsigned64(block, map.address),
    name: unsigned(block, map.name),
    count: unsigned(block, map.count),
    touches: unsigned(block, map.touches),
    touch_stack: unsigned(block, map.touch_stack),
    touch_bytes: unsigned64(block, map.touch_bytes),
  };
}

/** Stacks with what was done in each, in the form that the flame graph's widget takes. */
export interface Flames {
  names: readonly string[];
  parent: Uint32Array;
  name: Uint32Array;
  own: Float64Array;
  before?: Float64Array;
}

/** What was done in some stacks. */
export interface Done {
  stack: Uint32Array;
  own: Float64Array;
}

/** What a graph counts with this weight. */
export function doneIn(report: Report, graph: FlameGraph, { own }: FlameWeight): Done {
  return { stack: unsigned(report.block, graph.stack), own: floats(report.block, own) };
}

/** The part of a tree in which something was done, now or before, with everything that
 * leads there. */
export function flamesOf(
  names: readonly string[],
  tree: StackTree,
  now: Done,
  before?: Done,
): Flames {
  const isNeeded = new Uint8Array(tree.parent.length);
  isNeeded[0] = 1;
  for (const { stack, own } of before ? [now, before] : [now]) {
    stack.forEach((one, index) => {
      if (own[index] === 0) return;
      for (let at = one; !isNeeded[at]; at = tree.parent[at] as number) isNeeded[at] = 1;
    });
  }
  const needed = [...isNeeded.keys()].filter((stack) => isNeeded[stack]);
  const place = new Uint32Array(tree.parent.length);
  needed.forEach((stack, to) => {
    place[stack] = to;
  });
  const spread = ({ stack, own }: Done) => {
    const all = new Float64Array(needed.length);
    stack.forEach((one, index) => {
      if (isNeeded[one]) all[place[one] as number] = own[index] as number;
    });
    return all;
  };
  return {
    // The root, which has no name, stands for everything that was done.
    names: ["all", ...names.slice(1)],
    parent: Uint32Array.from(needed, (stack) => place[tree.parent[stack] as number] as number),
    name: Uint32Array.from(needed, (stack) => tree.name[stack] as number),
    own: spread(now),
    ...(before && { before: spread(before) }),
  };
}

/** The explanation of totals that count something once per frame. */
const ONCE =
  "each counted once for a frame, however often it is used: a frame can have less than what it " +
  "calls has together.";

/** A sentence about what the total of a graph consists of, by the name of what is counted. */
export function totalExplained(weight: string): string {
  switch (weight) {
    case "bytes":
      return `The total is of all different bytes of instructions, ${ONCE}`;
    case "lines":
      return `The total is of all different lines of 64 bytes with executed instructions, ${ONCE}`;
    case "data_lines":
      return `The total is of all different lines of 64 bytes that were read or written, ${ONCE}`;
    case "instructions":
      return "The total is of all instructions executed, each as often as it was.";
    default:
      return "The total is of all misses of this cache, from the first instruction to the last.";
  }
}
