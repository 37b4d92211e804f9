// A line chart on the screen: uPlot draws it; the frame, the legend and the read-out are ours.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { trimmed } from "../../format/units";
import { ChartFrame, type Table } from "../frame";
import { pictureOf } from "../picture";
import { ticks } from "../scales";
import type { Theme } from "../theme";
import { useDrawn } from "../visible";
import { aligned, type LineChartModel, xDomain, yDomain } from "./line-model";
import { lineSvg } from "./line-svg";

const HEIGHT = 300;
const stepped = uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder;

export interface LineChartProps {
  model: LineChartModel;
  theme: Theme;
  summary: string;
  file: string;
  notes?: preact.ComponentChildren;
}

export function LineChart({ model, theme, summary, file, notes }: LineChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [reading, setReading] = useState("");
  const drawn = useDrawn(
    holder,
    useMemo(() => ({ model, theme }), [model, theme]),
  );
  const data = useMemo(() => aligned(drawn?.model.series ?? []), [drawn]);

  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null || drawn === null) return;
    const options = optionsOf(drawn.model, drawn.theme, element.clientWidth, (index) =>
      setReading(readingAt(drawn.model, data, index)),
    );
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
  }, [drawn, data]);

  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const chart = plot.current;
    if (step === 0 || chart === null) return;
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
      />
      <p class="reading" aria-live="polite">
        {reading || "\u00a0"}
      </p>
    </ChartFrame>
  );
}

/** Every value at one place of the x axis, in words. */
function readingAt(
  model: LineChartModel,
  data: ReturnType<typeof aligned>,
  index: number | null | undefined,
): string {
  if (index === null || index === undefined) return "";
  const at = model.x.format(data.x[index] as number);
  const said = model.series.flatMap((series, column) => {
    const value = data.columns[column]?.y[index];
    return value === null || value === undefined
      ? []
      : [`${series.label} ${model.y.format(value)}`];
  });
  return `${at}: ${said.join(" · ")}`;
}

function tableOf(model: LineChartModel): Table {
  const rows = model.series.flatMap((series) =>
    series.points.map((point) => [
      series.label,
      point.x,
      point.y,
      point.low ?? "",
      point.high ?? "",
    ]),
  );
  return { head: ["series", model.x.label, model.y.label, "low", "high"], rows };
}

function optionsOf(
  model: LineChartModel,
  theme: Theme,
  width: number,
  onIndex: (index: number | null | undefined) => void,
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
    // uPlot would leave out texts of logarithmic axes that are no round decimal numbers.
    filter: (_: uPlot, splits: number[]) => splits,
  };
  const [x, y] = [xDomain(model), yDomain(model)];
  // uPlot puts null where it wants no text.
  const written = (format: (value: number) => string) => (_: uPlot, values: (number | null)[]) =>
    values.map((value) => (value === null ? "" : trimmed(format(value))));
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false } },
    scales: {
      x: { time: false, range: x, ...distribution(model.x.kind) },
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
      setCursor: [(chart) => onIndex(chart.cursor.idx)],
    },
  };
}

function hidden(): uPlot.Series {
  return { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
}

function distribution(kind: LineChartModel["x"]["kind"]): uPlot.Scale {
  if (kind === "linear") return { distr: 1 };
  return { distr: 3, log: kind === "log2" ? 2 : 10 };
}

/** Caches, limits and cliffs, behind the lines; names that would run into each other stand in rows
 * below each other. */
function drawMarkers(chart: uPlot, { markers, x }: LineChartModel) {
  const { ctx, bbox } = chart;
  const low = chart.scales.x?.min ?? 0;
  const high = chart.scales.x?.max ?? 0;
  const pixel = devicePixelRatio;
  const rowEnds: number[] = [];
  ctx.save();
  ctx.font = `${11 * pixel}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  for (const { from, to = from, label, colour } of markers) {
    if (to < low || from > high || (x.kind !== "linear" && from <= 0)) continue;
    const left = chart.valToPos(Math.max(from, low), "x", true);
    const right = chart.valToPos(Math.min(to, high), "x", true);
    ctx.fillStyle = `${colour}44`;
    ctx.fillRect(left, bbox.top, Math.max(pixel * 1.5, right - left), bbox.height);
    const width = ctx.measureText(label).width;
    const start = Math.max(bbox.left, Math.min(left + 4 * pixel, bbox.left + bbox.width - width));
    const free = rowEnds.findIndex((end) => end < start);
    const row = free < 0 ? rowEnds.length : free;
    rowEnds[row] = start + width + 6 * pixel;
    ctx.fillStyle = colour;
    ctx.fillText(label, start, bbox.top + (11 + 13 * row) * pixel);
  }
  ctx.restore();
}
