// How throughput grows with concurrency: the values of all targets, and the law that was fitted to
// them (Amdahl's, or Gunther's Universal Scalability Law).

import { LineChart } from "../charts/line/LineChart";
import type { LinePoint, LineSeries, Marker } from "../charts/line/line-model";
import type { CurveFit } from "../contract";
import { type Curve, metricOf, type Side } from "../data/model";
import { count, figure, typeset } from "../format/units";
import { colourOf, dashOf, useView } from "../view";
import { Fold } from "./Fold";

/** The number of points at which a law is drawn. */
const STEPS = 60;

export function Scalability() {
  const { report, selection, theme } = useView();
  const fitted = selection.curves.filter((curve) =>
    report.runs.some(({ document }) => document.fits?.some((fit) => fit.curve === curve.name)),
  );
  return (
    <>
      {report.runs.map(({ page }, run) => {
        const laws = page.prose.filter((one) => one.kind === "law" && selection.isShown(run, one));
        const name = report.runs.length > 1 ? `${page.name}: ` : "";
        return (
          <Fold
            key={page.name}
            title={`${name}${laws.length === 1 ? "the law" : `the ${laws.length} laws`} in words`}
            open={laws.length <= 8}
          >
            {() => (
              <ul class="laws">
                {laws.map((one) => (
                  <li key={one.text}>{typeset(one.text)}</li>
                ))}
              </ul>
            )}
          </Fold>
        );
      })}
      <p class="note">
        X(N) = γN / (1 + α(N − 1) + βN(N − 1)), where X is the throughput with N at once, α the
        share of work that waits for others, and β the cost of keeping each other up to date
        (Gunther, the Universal Scalability Law; without β, Amdahl’s law). Thin lines are fitted;
        points and bands are measured.
      </p>
      <div class="pair">
        {fitted.map((curve) => {
          const series = selection.sides.flatMap((side) => seriesOf(curve, side));
          const fit = fitsOf(curve)[0];
          return (
            <LineChart
              key={curve.key}
              model={{
                title: curve.title,
                x: { label: fit?.axis ?? curve.axis, kind: "linear", format: count },
                y: {
                  label: "throughput",
                  kind: "linear",
                  format: (value) => figure("operations/s", value),
                },
                series,
                markers: processorsOf(curve),
              }}
              theme={theme}
              file={`scalability-${curve.name}`}
              summary={`Throughput by ${fit?.axis ?? curve.axis}: measured medians with intervals, and the law fitted to all blocks.`}
            />
          );
        })}
      </div>
    </>
  );

  function fitsOf(curve: Curve): CurveFit[] {
    return report.runs.flatMap(({ document }) =>
      (document.fits ?? []).filter((fit) => fit.curve === curve.name),
    );
  }

  /** How many processors each run had; runs on similar machines share a mark. */
  function processorsOf(curve: Curve): Marker[] {
    const numbers = new Set(fitsOf(curve).flatMap((fit) => fit.processors ?? []));
    return [...numbers].map((from) => ({
      from,
      label: `${count(from)} processors`,
      colour: theme.muted,
    }));
  }

  function seriesOf(curve: Curve, side: Side): LineSeries[] {
    const points = curve.benchmarks.flatMap((benchmark): LinePoint[] => {
      const cell = benchmark.cells.find((one) => one.side === side);
      const found = cell && metricOf(cell, "throughput");
      if (benchmark.curve == null || found === undefined) return [];
      const { low, high } = found.interval ?? {};
      return [{ x: benchmark.curve.value, y: found.median, low, high }];
    });
    if (points.length === 0) return [];
    const colour = colourOf(theme, side);
    const measured = { label: side.label, colour, dash: dashOf(side), points };
    const document = report.runs[side.run]?.document;
    const fit = document?.fits?.find(
      (one) => one.curve === curve.name && one.target === side.target && one.law != null,
    );
    if (fit === undefined) return [measured];
    return [
      { ...measured, dash: [] },
      {
        label: `${side.label}, ${lawName(fit)}`,
        colour,
        dash: [3, 3],
        fitted: true,
        points: lawPoints(fit, Math.max(...points.map((point) => point.x))),
      },
    ];
  }
}

function lawName({ law }: CurveFit): string {
  if (law === "amdahl") return "Amdahl";
  return law === "linear" ? "linear" : "USL";
}

/** The law from 1 to `most`. */
export function lawPoints(fit: CurveFit, most: number): LinePoint[] {
  const parameter = (name: string) => fit.parameters.find((one) => one.name === name)?.value ?? 0;
  const [gamma, alpha, beta] = [parameter("gamma"), parameter("alpha"), parameter("beta")];
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const x = 1 + ((most - 1) * step) / STEPS;
    return { x, y: (gamma * x) / (1 + alpha * (x - 1) + beta * x * (x - 1)) };
  });
}
