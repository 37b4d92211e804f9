// A surface that can be turned by dragging, with the arrow keys, or with buttons.

import { useMemo, useState } from "preact/hooks";
import { count } from "../../format/units";
import { canvasPicture, type Size } from "../bitmap";
import { ChartFrame } from "../frame";
import { type Matrix, tableOfCells } from "../heatmap/heatmap";
import type { Painter } from "../painter";
import { type Palette, viridis } from "../palettes";
import { Stage } from "../stage";
import type { Theme } from "../theme";
import { FIRST_VIEW, heightsOf, turned, type View, widened } from "./surface3d";
import { drawSurface } from "./surface3d-draw";

export interface Surface3dProps extends Matrix {
  title: string;
  summary: string;
  file: string;
  theme: Theme;
  /** What heights mean: `operations`. */
  label: string;
  format?(value: number): string;
  palette?: Palette;
  height?: number;
}

const HEIGHT = 520;
const DEGREES_PER_PIXEL = 0.5;
const DEGREES_PER_KEY = 5;

const KEYS: Record<string, [number, number]> = {
  ArrowLeft: [-DEGREES_PER_KEY, 0],
  ArrowRight: [DEGREES_PER_KEY, 0],
  ArrowUp: [0, DEGREES_PER_KEY],
  ArrowDown: [0, -DEGREES_PER_KEY],
};

export function Surface3d(props: Surface3dProps) {
  const { title, theme, label, columns, rows, values, palette = viridis, format = count } = props;
  const [view, setView] = useState<View>(FIRST_VIEW);
  const [isLog, setLog] = useState(false);
  const [width, setWidth] = useState(0);
  const matrix = useMemo(() => widened({ columns, rows, values }), [columns, rows, values]);
  const heights = useMemo(() => heightsOf(matrix, isLog), [matrix, isLog]);
  const most = useMemo(() => mostOf(matrix), [matrix]);
  const drawing = { matrix, heights, most, isLog, label, format, view, palette, theme };
  const draw = (painter: Painter, size: Size) => drawSurface(painter, size, drawing);
  const turn = (yaw: number, pitch: number) => setView((now) => turned(now, yaw, pitch));
  const typed = (event: KeyboardEvent) => {
    const step = KEYS[event.key];
    if (step) turn(...step);
    return step !== undefined;
  };
  const height = props.height ?? Math.min(HEIGHT, Math.max(300, width));
  return (
    <ChartFrame
      title={title}
      summary={props.summary}
      file={props.file}
      table={() => tableOfCells(props, label, format)}
      picture={() => canvasPicture({ title, theme, size: { width, height }, draw })}
    >
      <p class="chart-controls">
        <button type="button" aria-label="Turn left" onClick={() => turn(-15, 0)}>
          ⟲
        </button>
        <button type="button" aria-label="Turn right" onClick={() => turn(15, 0)}>
          ⟳
        </button>
        <button type="button" onClick={() => setView({ ...FIRST_VIEW, pitch: 85 })}>
          From above
        </button>
        <button type="button" onClick={() => setView(FIRST_VIEW)}>
          Reset view
        </button>
        <button type="button" aria-pressed={isLog} onClick={() => setLog(!isLog)}>
          Log heights
        </button>
      </p>
      <Stage
        theme={theme}
        label={`${title}: surface. Drag or use the arrow keys to turn it.`}
        height={height}
        draw={draw}
        onWidth={setWidth}
        onDrag={(dx, dy) => turn(-dx * DEGREES_PER_PIXEL, dy * DEGREES_PER_PIXEL)}
        onKey={typed}
        cursor="grab"
      />
    </ChartFrame>
  );
}

function mostOf({ values }: Matrix): number {
  let most = 0;
  for (let index = 0; index < values.length; index += 1) {
    most = Math.max(most, values[index] ?? 0);
  }
  return most;
}
