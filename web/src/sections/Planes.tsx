// Curves that differ in a second parameter form a plane: a heat map for each side, all with the
// same colours.

import { Heatmap } from "../charts/heatmap/Heatmap";
import type { CellAxis, Matrix } from "../charts/heatmap/heatmap";
import type { CurveFamily, MetricReport } from "../contract";
import { type CellView, type Curve, primary } from "../data/model";
import { figure, onAxis, words } from "../format/units";
import { useView } from "../view";

/** One parameter across, the other one up. */
export interface Plane {
  key: string;
  title: string;
  /** The cells of all sides. */
  cells: CellView[];
  across: Axis;
  up: Axis;
}

interface Axis {
  label: string;
  unit: string;
  /** Ascending. */
  values: number[];
}

/** The families that have more than one curve. */
export function planesOf(curves: readonly Curve[]): Plane[] {
  const found = new Map<string, { family: CurveFamily; curve: Curve; cells: CellView[] }>();
  for (const curve of curves) {
    for (const { curve: point, cells } of curve.benchmarks) {
      const family = point?.family;
      if (family == null) continue;
      const known = found.get(family.family);
      if (known) known.cells.push(...cells);
      else found.set(family.family, { family, curve, cells: [...cells] });
    }
  }
  const planes = [...found].map(([key, { family, curve, cells }]) => ({
    key,
    title: family.title,
    cells,
    across: { label: curve.axis, unit: curve.unit, values: places(cells, acrossOf) },
    up: { label: family.axis, unit: family.unit, values: places(cells, upOf) },
  }));
  return planes.filter(({ across, up }) => across.values.length > 1 && up.values.length > 1);
}

const acrossOf = ({ report }: CellView) => report.curve?.value;
const upOf = ({ report }: CellView) => report.curve?.family?.value;

function places(cells: CellView[], of: (cell: CellView) => number | undefined): number[] {
  const values = new Set(cells.flatMap((cell) => of(cell) ?? []));
  return [...values].sort((one, other) => one - other);
}

/** The values of a side's cells, row by row; 0 where there is none. */
export function matrixOf({ across, up, cells }: Plane, side: number): Matrix {
  const values = new Float64Array(across.values.length * up.values.length);
  for (const cell of cells) {
    const column = across.values.indexOf(acrossOf(cell) ?? Number.NaN);
    const row = up.values.indexOf(upOf(cell) ?? Number.NaN);
    if (cell.side.index !== side || column < 0 || row < 0) continue;
    values[row * across.values.length + column] = primary(cell)?.figure.value ?? 0;
  }
  return { columns: axisOf(across), rows: axisOf(up), values };
}

function axisOf({ label, unit, values }: Axis): CellAxis {
  const text = (value: number) => onAxis(unit, value);
  return {
    label,
    cells: values.length,
    ticks: values.map((value, index) => ({ at: index + 0.5, text: text(value) })),
    cell: (index) => `${text(values[index] ?? 0)} of ${label}`,
  };
}

export function Planes({ curves }: { curves: readonly Curve[] }) {
  const planes = planesOf(curves);
  return (
    <>
      {planes.map((plane) => (
        <PlaneMaps key={plane.key} plane={plane} />
      ))}
    </>
  );
}

function PlaneMaps({ plane }: { plane: Plane }) {
  const { selection, theme } = useView();
  const metric: MetricReport | undefined = plane.cells.flatMap((one) => primary(one) ?? [])[0];
  if (metric === undefined) return null;
  const label = words(metric.name);
  const all = plane.cells.flatMap((cell) => primary(cell)?.figure.value ?? []);
  const range = { least: Math.min(...all), most: Math.max(...all) };
  const sides = selection.sides.filter((side) => plane.cells.some((cell) => cell.side === side));
  return (
    <div class="pair">
      {sides.map((side) => (
        <Heatmap
          key={side.index}
          {...matrixOf(plane, side.index)}
          title={`${plane.title}, ${side.label}: ${label}`}
          summary={`Medians over blocks, by ${plane.across.label} and ${plane.up.label}; the same colours for each target.`}
          file={`${plane.key}-${side.target}`}
          theme={theme}
          label={label}
          format={(value) => figure(metric.unit, value)}
          range={range}
        />
      ))}
    </div>
  );
}
