// A cachemap: each byte of each line that was touched, how often, and from where.

import { useMemo, useState } from "preact/hooks";
import { bytes, count, digits } from "../../format/units";
import { canvasPicture } from "../bitmap";
import { ChartFrame, type Table } from "../frame";
import { type ColourScale, drawLegend, firstOn, legendHeight } from "../legend";
import type { Painter } from "../painter";
import { type Palette, viridis } from "../palettes";
import { Stage } from "../stage";
import type { Theme } from "../theme";
import { type CachemapDrawing, cachemapPixels, columnBitmaps, drawCachemap } from "./draw";
import { addressOf, figuresOf, linesNamed, nameOf, timesOf } from "./figures";
import {
  type Byte,
  byteBeside,
  type CachemapData,
  cellThatFits,
  layoutOf,
  regionsOf,
} from "./layout";
import { ByteStacks } from "./stacks";
import { type CachemapView, useCachemapView } from "./view";

export interface CachemapProps {
  map: CachemapData;
  file: string;
  theme: Theme;
  palette?: Palette;
}

const PICTURE_WIDTH = 1400;
const PICTURE_HEIGHT = 900;

export function Cachemap({ map, file, theme, palette = viridis }: CachemapProps) {
  const view = useCachemapView(map);
  const [pointed, setPointed] = useState<Byte | null>(null);
  const [selected, setSelected] = useState<Byte | null>(null);
  const [opened, setOpened] = useState<Byte | null>(null);
  const [text, setText] = useState("");
  const found = useMemo(() => linesNamed(map, text), [map, text]);
  const drawn = useDrawn(map, view, palette, theme);
  const select = (byte: Byte) => {
    setSelected(byte);
    view.reveal(byte);
  };
  const findNext = () => {
    const line = found.find((at) => at > (selected?.line ?? -1)) ?? found[0];
    if (line !== undefined) select({ line, byte: 0 });
  };
  const press = (byte: Byte | null) => {
    setSelected(byte);
    // A byte that only came with its line was not touched by any stack, so there is nothing to
    // open.
    setOpened(byte && timesOf(map, byte) > 0 ? byte : null);
  };
  const { scale } = drawn;
  const drawing = { ...drawn, found, selected, scrolled: view.scrolled, seen: view.seen };
  const shown = pointed ?? selected;
  return (
    <ChartFrame
      title={map.title}
      summary={useMemo(() => summaryOf(map), [map])}
      file={file}
      table={() => tableOf(map)}
      picture={() => pictureWith(map, scale, theme)}
    >
      <Controls view={view} around={selected} onText={setText} onNext={findNext}>
        {text === "" ? "" : `${count(found.length)} of ${count(map.address.length)} lines`}
      </Controls>
      <div
        ref={view.scroller}
        class="chart-scroller"
        style={{ height: `${view.seen + legendHeight(view.width)}px`, overflowY: "auto" }}
        onScroll={view.onScroll}
      >
        <div style={{ height: `${view.layout.height + legendHeight(view.width)}px` }}>
          <div style={{ position: "sticky", top: 0 }}>
            <Stage
              theme={theme}
              label={`${map.title}: cachemap. Arrow keys move from byte to byte, Enter shows the stacks that touched it, plus and minus zoom.`}
              height={view.seen + legendHeight(view.width)}
              draw={(painter) => drawAll(painter, drawing, scale, view.width)}
              onWidth={view.setWidth}
              onPoint={(x, y) => setPointed(view.at(x, y))}
              onLeave={() => setPointed(null)}
              onPress={(x, y) => press(view.at(x, y))}
              onZoom={(direction, x, y) => view.zoom(-direction, view.at(x, y))}
              onKey={(event) => typed(event.key, { view, selected, select, press })}
              tip={pointed && describe(map, pointed)}
              cursor="crosshair"
            />
          </div>
        </div>
      </div>
      <p class="reading" aria-live="polite">
        {shown
          ? describe(map, shown)
          : "Point at a byte to read it, click for the stacks that touched it."}
      </p>
      {opened && <ByteStacks map={map} byte={opened} onClose={() => setOpened(null)} />}
    </ChartFrame>
  );
}

/** Remakes what takes time to make only if its inputs have changed. */
function useDrawn(map: CachemapData, view: CachemapView, palette: Palette, theme: Theme) {
  const { layout } = view;
  const scale = useMemo(() => scaleOf(map, palette, theme), [map, palette, theme]);
  const pixels = useMemo(() => cachemapPixels(map, scale, theme), [map, scale, theme]);
  const bitmaps = useMemo(
    () => columnBitmaps(pixels, layout),
    [pixels, layout.rows, layout.columns],
  );
  const regions = useMemo(() => regionsOf(map, layout.rows), [map, layout.rows]);
  return { map, layout, bitmaps, regions, theme, scale };
}

function scaleOf(map: CachemapData, palette: Palette, theme: Theme): ColourScale {
  const first = firstOn[theme.name];
  // If nothing was touched twice, everything has the colour of once, not that of the maximum.
  const most = Math.max(2, figuresOf(map).countMost);
  const label = map.of === "instructions" ? "executions per byte" : "accesses per byte";
  return { palette, first, least: 1, most, isLog: true, label, format: count, never: "never" };
}

function drawAll(painter: Painter, drawing: CachemapDrawing, scale: ColourScale, width: number) {
  painter.within(0, 0, width, drawing.seen, () => drawCachemap(painter, drawing));
  const x = width < 520 ? 4 : drawing.layout.margin;
  const place = { x, y: drawing.seen + 8, width: width - x - 4 };
  drawLegend(painter, place, scale, drawing.theme);
}

interface Walk {
  view: CachemapView;
  selected: Byte | null;
  select(byte: Byte): void;
  press(byte: Byte | null): void;
}

function typed(key: string, { view, selected, select, press }: Walk): boolean {
  if (key === "+" || key === "=") view.zoom(1, selected);
  else if (key === "-") view.zoom(-1, selected);
  else if (key === "Enter" && selected) press(selected);
  else if (key === "Escape") press(null);
  else {
    const next = byteBeside(selected ?? { line: 0, byte: 0 }, key, view.layout);
    if (next === null) return false;
    select(selected ? next : { line: 0, byte: 0 });
  }
  return true;
}

interface ControlsProps {
  view: CachemapView;
  around: Byte | null;
  onText(text: string): void;
  onNext(): void;
  children: string;
}

function Controls({ view, around, onText, onNext, children }: ControlsProps) {
  return (
    <p class="chart-controls">
      <label>
        Search{" "}
        <input
          type="search"
          placeholder="part of a symbol"
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && onNext()}
        />
      </label>{" "}
      <button
        type="button"
        aria-label="Smaller cells"
        disabled={!view.canZoom(-1)}
        onClick={() => view.zoom(-1, around)}
      >
        −
      </button>
      <button
        type="button"
        aria-label="Larger cells"
        disabled={!view.canZoom(1)}
        onClick={() => view.zoom(1, around)}
      >
        +
      </button>
      <button type="button" onClick={view.fit}>
        Fit
      </button>{" "}
      <span aria-live="polite">{children}</span>
    </p>
  );
}

function describe(map: CachemapData, byte: Byte): string {
  const times = timesOf(map, byte);
  const verb = map.of === "instructions" ? "executed" : "accessed";
  const place = `${addressOf(map, byte)}, ${nameOf(map, byte.line)}`;
  if (times === 0) return `${place}: never ${verb}, only fetched with its line`;
  return `${place}: ${verb} ${times === 1 ? "once" : `${count(times)} times`}`;
}

function summaryOf(map: CachemapData): string {
  const { lines, bytesUsed, bytesUnused, linesUsedOnce } = figuresOf(map);
  if (lines === 0) return "No line was touched.";
  const share = digits((bytesUnused / (bytesUsed + bytesUnused)) * 100);
  return (
    `${count(lines)} lines of ${bytes(map.line_bytes)} were touched (${bytes(lines * map.line_bytes)}): ` +
    `${bytes(bytesUsed)} used, ${bytes(bytesUnused)} (${share} %) fetched but never used; in ` +
    `${count(linesUsedOnce)} lines no byte was used more than once.`
  );
}

function tableOf(map: CachemapData): Table {
  const rows = Array.from(map.address, (_, line) => {
    const counts = map.count.subarray(line * map.line_bytes, (line + 1) * map.line_bytes);
    const used = counts.reduce((sum, times) => sum + (times > 0 ? 1 : 0), 0);
    const most = counts.reduce((so, times) => Math.max(so, times), 0);
    return [addressOf(map, { line, byte: 0 }), nameOf(map, line), used, most];
  });
  return { head: ["address", "symbol", "bytes used", "most uses of a byte"], rows };
}

/** The whole map, in cells small enough for it to fit, as a saved picture cannot be scrolled. */
function pictureWith(map: CachemapData, scale: ColourScale, theme: Theme) {
  const layout = layoutOf(map, PICTURE_WIDTH, cellThatFits(map, PICTURE_WIDTH, PICTURE_HEIGHT));
  const bitmaps = columnBitmaps(cachemapPixels(map, scale, theme), layout);
  const regions = regionsOf(map, layout.rows);
  const rest = { map, layout, bitmaps, regions, theme, selected: null, found: [], scrolled: 0 };
  const drawing = { ...rest, seen: layout.height };
  const size = { width: PICTURE_WIDTH, height: layout.height + legendHeight(PICTURE_WIDTH) };
  const draw = (painter: Painter) => drawAll(painter, drawing, scale, PICTURE_WIDTH);
  return canvasPicture({ title: map.title, theme, size, draw });
}
