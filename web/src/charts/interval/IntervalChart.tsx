// Dots with intervals on the screen: the same SVG that is saved.

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
      {/* Labels within are escaped where the SVG is written. */}
      <div
        class="drawing"
        role="img"
        aria-label={`${model.title}. ${summary}`}
        style={{ minHeight: `${intervalHeight(model)}px` }}
        ref={holder}
        dangerouslySetInnerHTML={{ __html: svg.replace(/^<\?xml.*\?>\n/, "") }}
      />
    </ChartFrame>
  );
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
