// A line chart on screen: drawn by uPlot; the frame, the legend and the read-out are ours.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { trimmed } from "../../format/units";
import { ChartFrame, measured, type Table } from "../frame";
import { pictureOf } from "../picture";
import { ticks } from "../scales";
import type { Theme } from "../theme";
import { useDrawn } from "../visible";
import {
  aligned,
  type LineChartModel,
  MARKER_ROW,
  markerRows,
  rowsOf,
  xDomain,
  yDomain,
} from "./line-model";
import { lineSvg } from "./line-svg";

const HEIGHT = 300;
const AXIS_FONT = "12px system-ui, sans-serif";
const stepped = uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder;

export interface LineChartProps {
  model: LineChartModel;
  theme: Theme;
  summary: string;
  file: string;
  notes?: preact.ComponentChildren;
  /** Charts with the same name share their cursor and zoom. */
  link?: string | undefined;
}

/** The values at one position of the x axis. */
interface Reading {
  at: string;
  said: { label: string; colour: string; value: string }[];
  /** Its position, in CSS pixels from the plot's left edge, and the plot's width. */
  left: number;
  width: number;
}

export function LineChart({ model, theme, summary, file, notes, link }: LineChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [reading, setReading] = useState<Reading | null>(null);
  const [isZoomed, setZoomed] = useState(false);
  const drawn = useDrawn(
    holder,
    useMemo(() => ({ model, theme }), [model, theme]),
  );
  const data = useMemo(() => aligned(drawn?.model.series ?? []), [drawn]);

  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null || drawn === null) return;
    const options = optionsOf(drawn.model, drawn.theme, element.clientWidth, {
      link,
      read: (chart) => setReading(readingAt(drawn.model, data, chart)),
      zoomed: setZoomed,
    });
    const columns = data.columns.flatMap(({ y, low, high }) => [y, low, high]);
    const created = new uPlot(options, [data.x, ...columns], element);
    plot.current = created;
    const observer = new ResizeObserver(() => {
      created.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [drawn, data, link]);

  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const chart = plot.current;
    if (chart === null) return;
    if (event.key === "Escape") unzoom(chart);
    if (step === 0) return;
    event.preventDefault();
    const last = data.x.length - 1;
    const from = chart.cursor.idx ?? (step > 0 ? -1 : last + 1);
    const index = Math.min(last, Math.max(0, from + step));
    chart.setCursor({ left: chart.valToPos(data.x[index] as number, "x"), top: 10 });
  };

  return (
    <ChartFrame
      title={model.title}
      summary={summary}
      file={file}
      table={() => tableOf(model)}
      picture={() => pictureOf(() => lineSvg(model, theme))}
      notes={notes}
    >
      <ul class="legend">
        {model.series
          .filter((series) => !series.unnamed)
          .map((series) => (
            <li key={series.label}>
              <svg width="28" height="10" aria-hidden="true">
                {series.scattered ? (
                  <circle cx="14" cy="5" r="3" fill={series.colour} />
                ) : (
                  <line
                    x1="0"
                    x2="28"
                    y1="5"
                    y2="5"
                    stroke={series.colour}
                    stroke-width={series.fitted ? 1 : 2.5}
                    stroke-dasharray={series.dash.join(" ")}
                  />
                )}
              </svg>
              {series.label}
            </li>
          ))}
      </ul>
      <div
        class="plot"
        role="img"
        tabIndex={0}
        aria-label={`${model.title}. ${summary} Arrow keys read the values.`}
        onKeyDown={move}
        ref={holder}
      >
        {reading && <PlotTip reading={reading} />}
      </div>
      <p class="reading">
        <span class="hidden" aria-live="polite">
          {reading ? saidOf(reading) : ""}
        </span>
        {isZoomed ? (
          <button type="button" onClick={() => plot.current && unzoom(plot.current)}>
            Show all
          </button>
        ) : (
          <span class="hint">Drag to zoom in.</span>
        )}
      </p>
    </ChartFrame>
  );
}

/** Every value at the cursor. */
function readingAt(
  model: LineChartModel,
  data: ReturnType<typeof aligned>,
  chart: uPlot,
): Reading | null {
  const { idx: index, left } = chart.cursor;
  if (index == null || left === undefined || left < 0) return null;
  const at = model.x.format(data.x[index] as number);
  const said = model.series.flatMap(({ label, colour, unnamed }, column) => {
    const value = data.columns[column]?.y[index];
    if (unnamed || value === null || value === undefined) return [];
    return [{ label, colour, value: model.y.format(value) }];
  });
  const { offsetLeft, clientWidth } = chart.over;
  return { at, said, left: left + offsetLeft, width: offsetLeft + clientWidth };
}

function saidOf({ at, said }: Reading): string {
  return `${at}: ${said.map(({ label, value }) => `${label} ${value}`).join(" · ")}`;
}

/** Next to the cursor, on the side with more room. */
function PlotTip({ reading: { at, said, left, width } }: { reading: Reading }) {
  const isLeft = left < width / 2;
  const side = isLeft ? { left: `${left + 12}px` } : { right: `calc(100% - ${left - 12}px)` };
  return (
    <div class="plot-tip" aria-hidden="true" style={side}>
      <b>{at}</b>
      {said.map(({ label, colour, value }) => (
        <span key={label}>
          <svg width="9" height="9">
            <circle cx="4.5" cy="4.5" r="4" fill={colour} />
          </svg>{" "}
          {label} <span class="number">{value}</span>
        </span>
      ))}
    </div>
  );
}

/** Linked charts, by name: each shows what the others show. */
const linked = new Map<string, Set<uPlot>>();

/** Shows the whole x axis again, here and in linked charts. */
function unzoom(chart: uPlot) {
  const x = chart.data[0];
  const [low, high] = [x[0], x.at(-1)];
  if (low !== undefined && high !== undefined) chart.setScale("x", { min: low, max: high });
}

function tableOf(model: LineChartModel): Table {
  const rows = model.series.flatMap((series) =>
    series.points.map((point) => [
      series.label,
      measured(point.x, model.x.format),
      measured(point.y, model.y.format),
      measured(point.low, model.y.format),
      measured(point.high, model.y.format),
    ]),
  );
  return { head: ["series", model.x.label, model.y.label, "low", "high"], rows };
}

interface Listeners {
  link: string | undefined;
  /** Called when the cursor has moved. */
  read: (chart: uPlot) => void;
  /** Called with whether only a part of the axis is shown. */
  zoomed: (isZoomed: boolean) => void;
}

function optionsOf(
  model: LineChartModel,
  theme: Theme,
  width: number,
  { link, read, zoomed }: Listeners,
): uPlot.Options {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  model.series.forEach((one, index) => {
    const first = 1 + 3 * index;
    const line = {
      stroke: one.colour,
      width: one.scattered ? 0 : one.fitted ? 1 : 2,
      dash: [...one.dash],
      spanGaps: true,
      points: {
        show: !one.fitted && !one.stepped,
        size: one.scattered ? 4 : 5,
        fill: one.colour,
      },
      ...(one.stepped ? { paths: stepped } : {}),
    };
    series.push(line, hidden(), hidden());
    if (!one.scattered) bands.push({ series: [first + 2, first + 1], fill: `${one.colour}2e` });
  });
  const axis = {
    stroke: theme.muted,
    grid: { stroke: theme.rule, width: 1 },
    ticks: { show: false },
    font: AXIS_FONT,
    labelFont: AXIS_FONT,
    labelSize: 22,
    // uPlot would leave out the texts of logarithmic axes that are not round decimal numbers.
    filter: (_: uPlot, splits: number[]) => splits,
  };
  const [x, y] = [xDomain(model), yDomain(model)];
  // uPlot passes null where it wants no text.
  const written = (format: (value: number) => string) => (_: uPlot, values: (number | null)[]) =>
    values.map((value) => (value === null ? "" : trimmed(format(value))));
  return {
    width,
    height: HEIGHT,
    // Room for the names of markers, and for half of the last tick's text.
    padding: [8 + MARKER_ROW * markerRows(model), 26, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false },
      ...(link && { sync: { key: link, scales: ["x", null] as [string, null] } }),
    },
    scales: {
      // The whole axis has room at its ends; a zoomed range is shown exactly.
      x: {
        time: false,
        range: (chart, low, high) => (isAll(chart, low, high) ? x : [low, high]),
        ...distribution(model.x.kind),
      },
      y: { range: y, ...distribution(model.y.kind) },
    },
    axes: [
      {
        ...axis,
        label: model.x.label,
        size: 26,
        splits: (_, __, low, high) =>
          ticks(model.x.kind, [low, high], Math.max(3, width / 110), model.x.isBinary),
        values: written(model.x.format),
      },
      {
        ...axis,
        label: model.y.label,
        size: (_, values) => 14 + 7 * Math.max(4, ...(values ?? []).map((text) => text.length)),
        splits: (_, __, low, high) => ticks(model.y.kind, [low, high], 6, model.y.isBinary),
        values: written(model.y.format),
      },
    ],
    series,
    bands,
    hooks: {
      drawClear: [(chart) => drawMarkers(chart, model)],
      setCursor: [read],
      setScale: [
        (chart, key) => {
          const { min, max } = chart.scales.x ?? {};
          if (key !== "x" || min == null || max == null) return;
          zoomed(!isAll(chart, min, max));
          shareScale(link, chart, min, max);
        },
      ],
      ready: [(chart) => join(link, chart)],
      destroy: [(chart) => link !== undefined && linked.get(link)?.delete(chart)],
    },
  };
}

function join(link: string | undefined, chart: uPlot) {
  if (link === undefined) return;
  linked.set(link, (linked.get(link) ?? new Set()).add(chart));
}

/** Makes linked charts show the same range of the axis. */
function shareScale(link: string | undefined, chart: uPlot, min: number, max: number) {
  if (link === undefined) return;
  const whole = isAll(chart, min, max);
  for (const other of linked.get(link) ?? []) {
    const { min: low, max: high } = other.scales.x ?? {};
    if (other === chart || low == null || high == null) continue;
    if (whole ? !isAll(other, low, high) : low !== min || high !== max) {
      if (whole) unzoom(other);
      else other.setScale("x", { min, max });
    }
  }
}

/** Whether all positions of a chart are between these ends. */
function isAll({ data: [x] }: uPlot, low: number, high: number): boolean {
  const [first, last] = [x[0], x.at(-1)];
  return first === undefined || last === undefined || (low <= first && high >= last);
}

function hidden(): uPlot.Series {
  return { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
}

function distribution(kind: LineChartModel["x"]["kind"]): uPlot.Scale {
  if (kind === "linear") return { distr: 1 };
  return { distr: 3, log: kind === "log2" ? 2 : 10 };
}

/** Draws caches, limits and cliffs behind the lines, with their names in rows above the plot. */
function drawMarkers(chart: uPlot, model: LineChartModel) {
  const { ctx, bbox } = chart;
  const low = chart.scales.x?.min ?? 0;
  const high = chart.scales.x?.max ?? 0;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * pixel}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  const seen = model.markers.filter(
    ({ from, to = from }) => to >= low && from <= high && (model.x.kind === "linear" || from > 0),
  );
  const places = seen.map(({ from, to = from, label, colour }) => {
    const left = chart.valToPos(Math.max(from, low), "x", true);
    const right = chart.valToPos(Math.min(to, high), "x", true);
    ctx.fillStyle = `${colour}44`;
    ctx.fillRect(left, bbox.top, Math.max(pixel * 1.5, right - left), bbox.height);
    const width = ctx.measureText(label).width / pixel;
    const most = (bbox.left + bbox.width) / pixel - width;
    return { start: Math.max(bbox.left / pixel, Math.min(left / pixel, most)), width };
  });
  rowsOf(places).forEach((row, index) => {
    const { label, colour } = seen[index] as LineChartModel["markers"][number];
    ctx.fillStyle = colour;
    const start = (places[index]?.start ?? 0) * pixel;
    ctx.fillText(label, start, bbox.top - (5 + MARKER_ROW * row) * pixel);
  });
  ctx.restore();
}
