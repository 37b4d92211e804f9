// A flame graph of what was done in each stack of calls, which can be zoomed, searched and walked.

import { useMemo, useState } from "preact/hooks";
import { changed, count, digits } from "../../format/units";
import { canvasPicture, type Size } from "../bitmap";
import { ChartFrame, type Table } from "../frame";
import { drawLegend } from "../legend";
import type { Painter } from "../painter";
import { divergentOn } from "../palettes";
import { Stage } from "../stage";
import type { Theme } from "../theme";
import { drawFlame, flameHeight, rowAt } from "./draw";
import {
  type FlameTree,
  flameTree,
  nodeAt,
  nodeBeside,
  pathTo,
  type Rectangles,
  rectanglesOf,
} from "./layout";
import { type Found, searched } from "./search";

export interface FlameGraphProps {
  title: string;
  file: string;
  theme: Theme;
  /** What is counted, in words: `instructions`. */
  unit: string;
  names: readonly string[];
  parent: Uint32Array;
  name: Uint32Array;
  own: Float64Array;
  /** Values of the same nodes in what it is compared with; if given, the difference is shown. */
  before?: Float64Array;
  /** A sentence about what totals consist of. */
  explained?: string | undefined;
  /** What to call the two, if they are compared. */
  sides?: { now: string; before: string };
  /** Flames rise from their root; icicles, the default, hang from it. */
  shape?: "icicle" | "flame";
}

type Sides = NonNullable<FlameGraphProps["sides"]>;
const NOW_AND_BEFORE: Sides = { now: "now", before: "before" };

const LEGEND = {
  first: 0,
  least: -1,
  most: 1,
  isLog: false,
  label: "change",
  format: (value: number) => (value < 0 ? "half or less" : "twice or more"),
};
const legendOf = (theme: Theme) => ({ ...LEGEND, palette: divergentOn[theme.name] });
const LEGEND_ROOM = 40;

export function FlameGraph(props: FlameGraphProps) {
  const { theme, names, parent, name, own, before, title } = props;
  const tree = useMemo(
    () => flameTree({ names, parent, name, own, before }),
    [names, parent, name, own, before],
  );
  const [zoomed, setZoomed] = useState(0);
  const [selected, setSelected] = useState(-1);
  const [text, setText] = useState("");
  const [width, setWidth] = useState(0);
  const found = useMemo(() => searched(tree, text, zoomed), [tree, text, zoomed]);
  const seen = useMemo(() => rectanglesOf(tree, zoomed, width), [tree, zoomed, width]);
  const isIcicle = props.shape !== "flame";
  const height = flameHeight(seen);
  const whole = before ? height + LEGEND_ROOM : height;
  const drawing = { tree, seen, theme, isIcicle, matches: found?.matches ?? null };
  const drawWith =
    (chosen: number) =>
    (painter: Painter, { width: wide }: Size) => {
      drawFlame(painter, { width: wide, height }, { ...drawing, selected: chosen });
      if (before)
        drawLegend(painter, { x: 12, y: height + 8, width: wide - 24 }, legendOf(theme), theme);
    };
  const zoom = (node: number) => {
    setZoomed(node);
    setSelected(node);
  };
  const under = (x: number, y: number) => nodeAt(seen, x, rowAt(y, height, isIcicle));
  return (
    <ChartFrame
      title={title}
      summary={[summaryOf(tree, props), props.explained].filter(Boolean).join(" ")}
      file={props.file}
      table={() => tableOf(tree, props)}
      picture={() =>
        canvasPicture({ title, theme, size: { width, height: whole }, draw: drawWith(-1) })
      }
      notes={before && <ChangeNote sides={props.sides ?? NOW_AND_BEFORE} />}
    >
      <Controls text={text} onText={setText} said={saidOf(found, seen)} />
      <Breadcrumb tree={tree} zoomed={zoomed} onZoom={zoom} />
      <Stage
        theme={theme}
        label={`${title}: flame graph. Arrow keys walk through calls, Enter zooms, Escape goes back.`}
        height={whole}
        draw={drawWith(selected)}
        onWidth={setWidth}
        onPoint={(x, y) => setSelected(under(x, y))}
        onLeave={() => setSelected(-1)}
        onPress={(x, y) => {
          const node = under(x, y);
          if (node >= 0) zoom(node);
        }}
        onKey={(event) => typed(event.key, { tree, zoomed, selected, zoom, setSelected })}
        tip={selected >= 0 ? describe(tree, selected, props) : null}
        cursor="pointer"
      />
      <p class="reading" aria-live="polite">
        {selected >= 0
          ? describe(tree, selected, props)
          : "Point at a frame to read it, click to zoom in."}
      </p>
    </ChartFrame>
  );
}

interface Walk {
  tree: FlameTree;
  zoomed: number;
  selected: number;
  zoom(node: number): void;
  setSelected(node: number): void;
}

function typed(key: string, { tree, zoomed, selected, zoom, setSelected }: Walk): boolean {
  const from = selected < 0 ? zoomed : selected;
  if (key === "Enter") zoom(from);
  else if (key === "Escape" && zoomed !== 0) zoom(tree.parent[zoomed] as number);
  else if (key === "Home") zoom(0);
  else {
    const next = nodeBeside(tree, from, key);
    if (next === null) return false;
    setSelected(selected < 0 ? from : next);
    // The node walked to must be visible: if it is outside the zoomed subtree, zoom to it.
    const isOutside = next < zoomed || next >= (tree.end[zoomed] as number);
    if (isOutside && !pathTo(tree, zoomed).includes(next)) zoom(next);
  }
  return true;
}

function Controls(props: { text: string; onText(text: string): void; said: string }) {
  return (
    <p class="chart-controls">
      <label>
        Search{" "}
        <input
          type="search"
          value={props.text}
          placeholder="name or regular expression"
          onInput={(event) => props.onText(event.currentTarget.value)}
        />
      </label>{" "}
      <span aria-live="polite">{props.said}</span>
    </p>
  );
}

function Breadcrumb(props: { tree: FlameTree; zoomed: number; onZoom(node: number): void }) {
  const { tree, zoomed } = props;
  if (zoomed === 0) return null;
  return (
    <nav class="chart-breadcrumb" aria-label="Zoomed from">
      {pathTo(tree, zoomed).map((node) => (
        <button
          key={node}
          type="button"
          disabled={node === zoomed}
          onClick={() => props.onZoom(node)}
        >
          {tree.names[tree.name[node] as number]}
        </button>
      ))}
    </nav>
  );
}

function ChangeNote({ sides }: { sides: Sides }) {
  return (
    <p>
      Red frames do more in {sides.now} than in {sides.before}, blue ones less. Widths are the mean
      of both, so work that only one of them does stays visible.
    </p>
  );
}

function saidOf(found: Found | null, seen: Rectangles): string {
  if (found) {
    const frames = found.frames === 1 ? "1 frame" : `${count(found.frames)} frames`;
    return `${frames}, ${digits(found.share * 100)} % of what is shown`;
  }
  if (seen.hidden === 0) return "";
  return `${count(seen.hidden)} frames narrower than half a pixel are not drawn.`;
}

function describe(tree: FlameTree, node: number, { unit, sides }: FlameGraphProps): string {
  const total = tree.total[node] ?? 0;
  const whole = tree.total[0] ?? 0;
  const share = whole > 0 ? ` (${digits((total / whole) * 100)} %)` : "";
  const name = tree.names[tree.name[node] as number];
  const own = `${count(tree.own[node] ?? 0)} of its own`;
  if (tree.before) {
    const then = tree.before[node] ?? 0;
    const { now, before } = sides ?? NOW_AND_BEFORE;
    const both = `${before} ${count(then)}, ${now} ${count(total)} ${unit}`;
    return `${name}: ${both}: ${changed(then, total)}`;
  }
  return `${name}: ${count(total)} ${unit}${share}, ${own}`;
}

function summaryOf(tree: FlameTree, { unit, before, sides }: FlameGraphProps): string {
  if (tree.parent.length === 0) return "Nothing was recorded.";
  let top = 0;
  const byName = new Float64Array(tree.names.length);
  tree.own.forEach((own, node) => {
    const name = tree.name[node] as number;
    byName[name] = (byName[name] ?? 0) + own;
    if ((byName[name] ?? 0) > (byName[top] ?? 0)) top = name;
  });
  const whole = tree.total[0] ?? 0;
  const share = whole > 0 ? digits(((byName[top] ?? 0) / whole) * 100) : "0";
  if (before) {
    const then = tree.before?.[0] ?? 0;
    const names = sides ?? NOW_AND_BEFORE;
    const both = `${count(then)} ${unit} in ${names.before}, ${count(whole)} in ${names.now}`;
    return `${both}: ${changed(then, whole)}, in ${count(tree.parent.length)} stacks.`;
  }
  return (
    `${count(whole)} ${unit} in ${count(tree.parent.length)} stacks, ` +
    `${tree.depthMost} deep at most; ${tree.names[top]} has the most of its own: ${share} %.`
  );
}

/** A row for each stack that did something itself, largest first. */
function tableOf(tree: FlameTree, { unit, sides }: FlameGraphProps): Table {
  if (tree.before) return changesOf(tree, tree.before, unit, sides ?? NOW_AND_BEFORE);
  const nodes = [...tree.own.keys()].filter((node) => (tree.own[node] ?? 0) > 0);
  nodes.sort((left, right) => (tree.own[right] ?? 0) - (tree.own[left] ?? 0));
  const stack = (node: number) =>
    pathTo(tree, node)
      .map((one) => tree.names[tree.name[one] as number])
      .join(";");
  const rows = nodes.map((node) => [stack(node), tree.own[node] ?? 0, tree.total[node] ?? 0]);
  return { head: ["stack", `${unit}, own`, `${unit}, total`], rows };
}

/** A row for each stack in which something changed, largest change first. */
function changesOf(tree: FlameTree, then: Float64Array, unit: string, sides: Sides): Table {
  const change = (node: number) => (tree.total[node] ?? 0) - (then[node] ?? 0);
  const nodes = [...tree.total.keys()].filter((node) => change(node) !== 0);
  nodes.sort((left, right) => Math.abs(change(right)) - Math.abs(change(left)));
  const stack = (node: number) =>
    pathTo(tree, node)
      .map((one) => tree.names[tree.name[one] as number])
      .join(";");
  const rows = nodes.map((node) => [
    stack(node),
    then[node] ?? 0,
    tree.total[node] ?? 0,
    changed(then[node] ?? 0, tree.total[node] ?? 0),
  ]);
  return { head: ["stack", `${unit}, ${sides.before}`, `${unit}, ${sides.now}`, "change"], rows };
}
