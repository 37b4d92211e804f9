// Finds frames by name, and how much of the whole they are.

import type { FlameTree } from "./layout";

export interface Found {
  /** 1 for each node whose name matches. */
  matches: Uint8Array;
  frames: number;
  /** Their share of the weight of the zoomed node. A match within a match is counted once. */
  share: number;
}

/** A predicate for names: a regular expression if the text is one, else a substring. */
export function matcher(text: string): (name: string) => boolean {
  const wanted = text.toLowerCase();
  try {
    const expression = new RegExp(text, "i");
    return (name) => expression.test(name) || name.toLowerCase().includes(wanted);
  } catch {
    return (name) => name.toLowerCase().includes(wanted);
  }
}

/** Null if the text is empty. */
export function searched(tree: FlameTree, text: string, zoomed: number): Found | null {
  if (text === "") return null;
  const isWanted = tree.names.map(matcher(text));
  const matches = new Uint8Array(tree.parent.length);
  let [frames, weight, counted] = [0, 0, 0];
  const end = tree.end[zoomed] as number;
  for (let node = zoomed; node < end; node += 1) {
    if (!isWanted[tree.name[node] as number]) continue;
    matches[node] = 1;
    frames += 1;
    if (node < counted) continue;
    weight += tree.weight[node] as number;
    counted = tree.end[node] as number;
  }
  const whole = tree.weight[zoomed] as number;
  return { matches, frames, share: whole > 0 ? weight / whole : 0 };
}
