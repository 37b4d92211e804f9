// Dots with intervals on screen: the same SVG that is saved.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ChartFrame, measured, type Table } from "../frame";
import { pictureOf } from "../picture";
import type { Theme } from "../theme";
import { useDrawn } from "../visible";
import { type IntervalModel, intervalHeight, intervalSvg } from "./interval-svg";

const WIDTH_SAVED = 820;

export interface IntervalChartProps {
  model: IntervalModel;
  theme: Theme;
  summary: string;
  file: string;
  notes?: preact.ComponentChildren;
}

export function IntervalChart({ model, theme, summary, file, notes }: IntervalChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<Tip | null>(null);
  const drawn = useDrawn(
    holder,
    useMemo(() => ({ model, theme }), [model, theme]),
  );
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  const svg = useMemo(
    () => (drawn !== null && width > 0 ? intervalSvg(drawn.model, drawn.theme, width) : ""),
    [drawn, width],
  );
  return (
    <ChartFrame
      title={model.title}
      summary={summary}
      file={file}
      table={() => tableOf(model)}
      picture={() => pictureOf(() => intervalSvg(model, theme, WIDTH_SAVED))}
      notes={notes}
    >
      {/* Labels in it are escaped where the SVG is written. */}
      <div
        class="drawing"
        role="img"
        onPointerMove={({ target, clientX, clientY }) => setTip(tipAt(target, clientX, clientY))}
        onPointerLeave={() => setTip(null)}
        aria-label={`${model.title}. ${summary}`}
        style={{ minHeight: `${intervalHeight(model)}px` }}
        ref={holder}
        dangerouslySetInnerHTML={{ __html: onScreen(svg) }}
      />
      {tip && (
        <div class="row-tip" aria-hidden="true" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>
          <b>{tip.label}</b> {tip.said}
        </div>
      )}
    </ChartFrame>
  );
}

/** What is shown beside the pointer. */
interface Tip {
  label: string;
  said: string;
  x: number;
  y: number;
}

const TIP_WIDTH = 280;

function tipAt(target: EventTarget | null, x: number, y: number): Tip | null {
  const row = target instanceof Element ? target.closest("[data-said]") : null;
  const [label, said] = [row?.getAttribute("data-label"), row?.getAttribute("data-said")];
  if (label == null || said == null) return null;
  return { label, said, x: Math.max(8, Math.min(x + 14, innerWidth - TIP_WIDTH)), y: y + 14 };
}

/** An SVG file within the page, with our own tooltips instead of the browser's. */
function onScreen(svg: string): string {
  return svg.replace(/^<\?xml.*\?>\n/, "").replaceAll(/<title>[^<]*<\/title>/g, "");
}

function tableOf(model: IntervalModel): Table {
  const rows = model.groups.flatMap((group) =>
    group.rows.map((row) => [
      group.title,
      row.label,
      measured(row.value, model.axis.format),
      measured(row.low, model.axis.format),
      measured(row.high, model.axis.format),
      row.said,
    ]),
  );
  return { head: ["group", "row", model.axis.label, "low", "high", "in words"], rows };
}
