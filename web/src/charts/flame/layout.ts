// A tree of calls merged by name, its totals, and which of its rectangles are visible.
//
// Children with the same name under one caller become one node. Siblings are sorted by name, so
// that two graphs of one program look alike. Nodes are numbered in depth-first order: the subtree
// of a node follows it directly, and ends at `end`.

export interface FlameTree {
  names: readonly string[];
  /** The caller of each node; the root is its own. */
  parent: Uint32Array;
  name: Uint32Array;
  depth: Uint16Array;
  /** The first node after each node's subtree. */
  end: Uint32Array;
  own: Float64Array;
  /** `own` plus that of everything called from there. */
  total: Float64Array;
  /** Totals of the tree that it is compared with, if any. */
  before: Float64Array | null;
  /** What widths show: totals, or in a comparison the mean of both totals. */
  weight: Float64Array;
  /** Where each node starts, in units of weight. */
  start: Float64Array;
  depthMost: number;
}

export interface FlameInput {
  names: readonly string[];
  /** Callers come before what they call; the root is its own caller. */
  parent: ArrayLike<number>;
  name: ArrayLike<number>;
  own: ArrayLike<number>;
  /** Values of the same nodes in what it is compared with. */
  before?: ArrayLike<number>;
}

interface Merged {
  parent: number[];
  name: number[];
  own: number[];
  before: number[];
  children: number[][];
}

export function flameTree(input: FlameInput): FlameTree {
  const merged = merge(input);
  const order = walked(merged, input.names);
  const count = order.length;
  const tree: FlameTree = {
    names: input.names,
    parent: new Uint32Array(count),
    name: Uint32Array.from(order, (from) => merged.name[from] ?? 0),
    depth: new Uint16Array(count),
    end: new Uint32Array(count),
    own: Float64Array.from(order, (from) => merged.own[from] ?? 0),
    total: Float64Array.from(order, (from) => merged.own[from] ?? 0),
    before: input.before ? Float64Array.from(order, (from) => merged.before[from] ?? 0) : null,
    weight: new Float64Array(count),
    start: new Float64Array(count),
    depthMost: 0,
  };
  const place = new Uint32Array(count);
  order.forEach((from, to) => {
    place[from] = to;
  });
  order.forEach((from, to) => {
    tree.parent[to] = place[merged.parent[from] ?? 0] ?? 0;
  });
  sumUp(tree);
  return tree;
}

function merge({ names, parent, name, own, before }: FlameInput): Merged {
  const merged: Merged = { parent: [], name: [], own: [], before: [], children: [] };
  const places = new Map<number, number>();
  const mergedAs = new Uint32Array(parent.length);
  for (let node = 0; node < parent.length; node += 1) {
    const caller = node === 0 ? 0 : (mergedAs[parent[node] ?? 0] ?? 0);
    const key = node === 0 ? -1 : caller * names.length + (name[node] ?? 0);
    let to = places.get(key);
    if (to === undefined) {
      to = merged.parent.push(caller) - 1;
      merged.name.push(name[node] ?? 0);
      merged.own.push(0);
      merged.before.push(0);
      merged.children.push([]);
      if (to !== caller) merged.children[caller]?.push(to);
      places.set(key, to);
    }
    merged.own[to] = (merged.own[to] ?? 0) + (own[node] ?? 0);
    merged.before[to] = (merged.before[to] ?? 0) + (before?.[node] ?? 0);
    mergedAs[node] = to;
  }
  return merged;
}

/** The merged nodes in depth-first order, walked with an explicit stack, as calls can be deep. */
function walked({ children, name }: Merged, names: readonly string[]): number[] {
  const rank = new Uint32Array(names.length);
  const byName = (left: number, right: number) =>
    (names[left] as string) < (names[right] as string) ? -1 : 1;
  [...names.keys()].sort(byName).forEach((place, at) => {
    rank[place] = at;
  });
  const rankOf = (node: number) => rank[name[node] ?? 0] ?? 0;
  const order: number[] = [];
  const waiting = children.length > 0 ? [0] : [];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    order.push(node);
    const sorted = (children[node] ?? []).sort((left, right) => rankOf(right) - rankOf(left));
    for (const child of sorted) waiting.push(child);
  }
  return order;
}

/** Computes totals from the leaves to the root, then depths and positions from the root to the
 * leaves. */
function sumUp(tree: FlameTree) {
  const { parent, total, before, end, weight, start, depth } = tree;
  const count = parent.length;
  for (let node = 0; node < count; node += 1) end[node] = node + 1;
  for (let node = count - 1; node > 0; node -= 1) {
    const caller = parent[node] as number;
    total[caller] = (total[caller] as number) + (total[node] as number);
    if (before) before[caller] = (before[caller] as number) + (before[node] as number);
    end[caller] = Math.max(end[caller] as number, end[node] as number);
  }
  for (let node = 0; node < count; node += 1) {
    const now = total[node] as number;
    weight[node] = before ? (now + (before[node] as number)) / 2 : now;
  }
  const next = Float64Array.from(start);
  for (let node = 1; node < count; node += 1) {
    const caller = parent[node] as number;
    start[node] = next[caller] as number;
    next[caller] = (next[caller] as number) + (weight[node] as number);
    next[node] = start[node] as number;
    depth[node] = (depth[caller] as number) + 1;
    tree.depthMost = Math.max(tree.depthMost, depth[node] as number);
  }
}

/** Rectangles in CSS pixels, one for each visible node. */
export interface Rectangles {
  count: number;
  node: Uint32Array;
  x: Float64Array;
  width: Float64Array;
  /** The row, counted from the root's, which is 0. */
  row: Uint16Array;
  /** Number of nodes that are too narrow to be visible. */
  hidden: number;
  rows: number;
}

/** Nodes narrower than this, in CSS pixels, are left out together with everything they call. */
export const WIDTH_LEAST = 0.5;

/** Lays out what is visible when `zoomed` fills the width: its callers above it, its subtree
 * below. */
export function rectanglesOf(tree: FlameTree, zoomed: number, width: number): Rectangles {
  const most = tree.parent.length;
  const seen: Rectangles = {
    count: 0,
    node: new Uint32Array(most),
    x: new Float64Array(most),
    width: new Float64Array(most),
    row: new Uint16Array(most),
    hidden: 0,
    rows: 0,
  };
  const add = (node: number, x: number, wide: number) => {
    const at = seen.count;
    seen.node[at] = node;
    seen.x[at] = x;
    seen.width[at] = wide;
    seen.row[at] = tree.depth[node] as number;
    seen.rows = Math.max(seen.rows, (tree.depth[node] as number) + 1);
    seen.count += 1;
  };
  for (const node of pathTo(tree, zoomed)) if (node !== zoomed) add(node, 0, width);
  const whole = tree.weight[zoomed] as number;
  const origin = tree.start[zoomed] as number;
  const perUnit = whole > 0 ? width / whole : 0;
  const end = tree.end[zoomed] as number;
  for (let node = zoomed; node < end; ) {
    const wide = (tree.weight[node] as number) * perUnit;
    if (wide < WIDTH_LEAST) {
      seen.hidden += (tree.end[node] as number) - node;
      node = tree.end[node] as number;
      continue;
    }
    add(node, ((tree.start[node] as number) - origin) * perUnit, wide);
    node += 1;
  }
  return seen;
}

/** The node drawn at a point, with `row` counted from the root's; -1 if there is none. */
export function nodeAt(seen: Rectangles, x: number, row: number): number {
  for (let at = 0; at < seen.count; at += 1) {
    const left = seen.x[at] as number;
    if (seen.row[at] === row && x >= left && x < left + (seen.width[at] as number)) {
      return seen.node[at] as number;
    }
  }
  return -1;
}

/** The nodes from the root to this one. */
export function pathTo(tree: FlameTree, node: number): number[] {
  const path = [node];
  for (let at = node; at !== 0; at = path[0] as number) path.unshift(tree.parent[at] as number);
  return path;
}

/** The node that an arrow key moves to: down to the widest one called, up to the caller, sideways
 * to the next sibling with any width. Null for other keys. */
export function nodeBeside(tree: FlameTree, node: number, key: string): number | null {
  switch (key) {
    case "ArrowUp":
      return tree.parent[node] as number;
    case "ArrowDown":
      return widest(tree, childrenOf(tree, node)) ?? node;
    case "ArrowLeft":
    case "ArrowRight": {
      if (node === 0) return node;
      const isSeen = (one: number) => (tree.weight[one] as number) > 0 || one === node;
      const siblings = childrenOf(tree, tree.parent[node] as number).filter(isSeen);
      const at = siblings.indexOf(node) + (key === "ArrowLeft" ? -1 : 1);
      return siblings[Math.max(0, Math.min(siblings.length - 1, at))] ?? node;
    }
    default:
      return null;
  }
}

/** What a node calls, sorted by name. */
export function childrenOf(tree: FlameTree, node: number): number[] {
  const children: number[] = [];
  const end = tree.end[node] as number;
  for (let child = node + 1; child < end; child = tree.end[child] as number) children.push(child);
  return children;
}

function widest(tree: FlameTree, nodes: readonly number[]): number | undefined {
  const weight = (node: number) => tree.weight[node] as number;
  return nodes.reduce<number | undefined>(
    (best, node) => (best === undefined || weight(node) > weight(best) ? node : best),
    undefined,
  );
}
