// Effects and contrasts: how much each target (or run) costs over all benchmarks, as in the
// analysis of variance of the Bonnie paper, and what was said of each pair.

import { ChartFrame } from "../charts/frame";
import { IntervalChart } from "../charts/IntervalChart";
import type { IntervalRow } from "../charts/interval-svg";
import type { AnovaAnswer, CompareDocument, RatioDocument, RunComparison } from "../contract";
import { metricOf, type Report, type Side } from "../data/model";
import { count, digits, percent, pValue, ratio, ratioTick, words } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { better } from "./Dimension";

/** A value with its intervals, of an effect or of its ratio. */
type Estimated = Pick<RatioDocument, "estimate" | "intervals">;

export function Effects() {
  const view = useView();
  const { comparison, refused } = view.report.payload.effects;
  if (comparison == null) return <p>No effects: {refused}</p>;
  const level = percent(comparison.level);
  return (
    <>
      {comparison.warnings.map((warning) => (
        <p key={warning} class="doubt">
          {warning}
        </p>
      ))}
      {comparison.runs.length > 1 && <BetweenRuns comparison={comparison} />}
      {comparison.analysis == null ? (
        <p>No analysis of variance: {comparison.analysis_refused}</p>
      ) : (
        <Analysis analysis={comparison.analysis} level={level} />
      )}
      {comparison.left_out.length > 0 && (
        <p class="note">
          Not in the analysis, because not every side has them, or they are ratios or no cost:{" "}
          {comparison.left_out.join("; ")}.
        </p>
      )}
    </>
  );
}

/** Each target before and after. */
function BetweenRuns({ comparison }: { comparison: CompareDocument }) {
  const view = useView();
  const groups = new Map<string, RunComparison[]>();
  for (const one of comparison.comparisons) {
    if (one.ratio == null || !isShown(view, one)) continue;
    const title = `${one.title}: ${words(one.metric)}, ${directionOf(view, one)}`;
    groups.set(title, [...(groups.get(title) ?? []), one]);
  }
  const [first, ...later] = comparison.runs.map((run) => run.name);
  const title = `${later.join(", ")} over ${first}`;
  if (groups.size === 0) {
    return <p>{title}: no benchmark that is shown has enough blocks in both to be compared.</p>;
  }
  return (
    <IntervalChart
      model={{
        title,
        axis: { label: "ratio of the primary metric", kind: "log10", format: ratioTick },
        groups: [...groups].map(([title, all]) => ({
          title,
          rows: all.map((one) => rowOf(view, one, later.length > 1)),
        })),
        reference: 1,
      }}
      theme={view.theme}
      file="between-runs"
      summary={`Each target's primary metric in a later run over that in ${first}, with its interval; hollow: not real, or less than ${percent(comparison.margin)}.`}
    />
  );
}

function rowOf(view: View, one: RunComparison, isNamed: boolean): IntervalRow {
  const value = one.ratio as number;
  const name = one.second === one.first ? one.second : `${one.second} / ${one.first}`;
  const side = sideOf(view.report, one.second_run, one.second);
  return {
    label: isNamed ? `${name} · ${one.second_run}` : name,
    colour: side === undefined ? view.theme.ink : colourOf(view.theme, side),
    value,
    low: one.interval?.low,
    high: one.interval?.high,
    said: `${ratio(value)}, ${words(one.verdict)}`,
    hollow: one.verdict !== "real",
  };
}

/** A ratio above 1 is more of the metric: whether that is better differs between metrics. */
function directionOf({ report }: View, one: RunComparison): string {
  const key = `${one.suite}/${one.benchmark}`;
  const cells = report.benchmarks.find((benchmark) => benchmark.key === key)?.cells ?? [];
  const metric = cells.flatMap((cell) => metricOf(cell, one.metric) ?? [])[0];
  return metric === undefined ? "" : better(metric);
}

function sideOf(report: Report, run: string, target: string): Side | undefined {
  return report.sides.find(
    (side) => side.target === target && report.runs[side.run]?.page.name === run,
  );
}

function isShown({ report, selection }: View, one: RunComparison): boolean {
  const key = `${one.suite}/${one.benchmark}`;
  const side = sideOf(report, one.second_run, one.second);
  return (
    selection.benchmarks.some((benchmark) => benchmark.key === key) &&
    selection.sides.some((shown) => shown === side)
  );
}

/** The colour of a target, where all runs together have one target of this label. */
function colourOfTarget(view: View, target: string): string {
  const sides = view.report.sides.filter((one) => one.target === target);
  const [only] = sides;
  return only !== undefined && sides.length === 1 ? colourOf(view.theme, only) : view.theme.ink;
}

function Analysis({ analysis, level }: { analysis: AnovaAnswer; level: string }) {
  const view = useView();
  // That one benchmark costs more than another is no news.
  const effects = analysis.effects.filter((one) => one.factor !== "benchmark");
  const factors = [...new Set(effects.map((one) => one.factor))];
  const isRatio = effects.every((one) => one.ratio != null);
  return (
    <>
      <IntervalChart
        model={{
          title: "Effects on the cost, over all benchmarks",
          axis: {
            label: isRatio ? "cost over the geometric mean of all" : "difference from the mean",
            kind: isRatio ? "log10" : "linear",
            format: isRatio ? ratioTick : (value) => digits(value),
          },
          groups: factors.map((factor) => ({
            title: factor,
            rows: effects
              .filter((one) => one.factor === factor)
              .map((one) => {
                const { estimate, intervals }: Estimated = one.ratio ?? one;
                const ends = intervals[0];
                const said = isRatio ? ratio : digits;
                return {
                  label: one.level,
                  colour: colourOfTarget(view, one.level),
                  value: estimate,
                  low: ends?.low,
                  high: ends?.high,
                  said: ends
                    ? `${said(estimate)} [${said(ends.low)}, ${said(ends.high)}]`
                    : said(estimate),
                };
              }),
          })),
          reference: isRatio ? 1 : 0,
        }}
        theme={view.theme}
        file="effects"
        summary={`${analysis.design}, ${analysis.model} model: each level's effect with its ${level} interval.`}
        notes={
          <ul class="notes">
            {analysis.diagnostics.map((one) => (
              <li key={one.message} class={one.warning ? "doubt" : undefined}>
                {one.warning && <span aria-hidden="true">⚠ </span>}
                {one.message}
              </li>
            ))}
          </ul>
        }
      />
      {factors.map((factor) => (
        <Contrasts key={factor} analysis={analysis} factor={factor} level={level} />
      ))}
      <VarianceTable analysis={analysis} />
    </>
  );
}

/** Every pair of levels of a factor: row over column. */
function Contrasts({
  analysis,
  factor,
  level,
}: {
  analysis: AnovaAnswer;
  factor: string;
  level: string;
}) {
  const contrasts = analysis.contrasts.filter((one) => one.factor === factor);
  const levels = [...new Set(contrasts.flatMap((one) => [one.first, one.second]))];
  if (levels.length < 2) return null;
  return (
    <ChartFrame
      title={`Contrasts: ${factor}`}
      file={`contrasts-${factor}`}
      summary={`What the row costs over what the column costs, over all benchmarks, with its ${level} interval; p is adjusted for all pairs.`}
      table={() => ({
        head: ["first", "second", "first over second", "low", "high", "p", "p adjusted"],
        rows: contrasts.map((one) => {
          const { estimate, intervals } = one.ratio ?? {
            estimate: one.difference,
            intervals: one.intervals,
          };
          const ends = intervals[0];
          return [
            one.first,
            one.second,
            estimate,
            ends?.low ?? "",
            ends?.high ?? "",
            one.p,
            one.p_adjusted,
          ];
        }),
      })}
    >
      <div class="scrolling">
        <table class="map">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">row over column</span>
              </th>
              {levels.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {levels.map((row) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {levels.map((column) => (
                  <Contrast key={column} contrasts={contrasts} row={row} column={column} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </ChartFrame>
  );
}

function Contrast({
  contrasts,
  row,
  column,
}: {
  contrasts: AnovaAnswer["contrasts"];
  row: string;
  column: string;
}) {
  const found = contrasts.find(
    (one) =>
      (one.first === row && one.second === column) || (one.first === column && one.second === row),
  );
  if (found === undefined) return <td class="empty">·</td>;
  const turned = found.first !== row;
  const own = found.ratio;
  const ends = (own?.intervals ?? found.intervals)[0];
  const say = (value: number) =>
    own ? ratio(turned ? 1 / value : value) : digits(turned ? -value : value);
  const value = own?.estimate ?? found.difference;
  const size = own ? Math.abs(Math.log2(value)) * 2 : 0;
  const isDear = value > (own ? 1 : 0) !== turned;
  const level = ends?.level ?? 0.95;
  const isReal = found.p_adjusted < 1 - level;
  return (
    <td
      class={`depth-${Math.min(6, Math.floor(size))} ${isDear ? "dear" : "cheap"}${isReal ? "" : " alike"}`}
    >
      <strong>{say(value)}</strong>
      {ends && (
        <small>
          [{say(turned ? ends.high : ends.low)}, {say(turned ? ends.low : ends.high)}]
        </small>
      )}
      <small>{pValue(found.p_adjusted)}</small>
    </td>
  );
}

function VarianceTable({ analysis }: { analysis: AnovaAnswer }) {
  const head = ["source", "sum of squares", "df", "mean square", "F", "p", "% of variation"];
  return (
    <ChartFrame
      title="Analysis of variance"
      file="anova"
      summary={`${analysis.design}; ${analysis.model} model (${analysis.why}).`}
      table={() => ({
        head,
        rows: analysis.anova.map((one) => [
          one.source,
          one.sum_sq,
          one.df,
          one.mean_sq,
          one.f ?? "",
          one.p ?? "",
          one.percent_of_variation,
        ]),
      })}
    >
      <div class="scrolling">
        <table class="figures">
          <thead>
            <tr>
              {head.map((text) => (
                <th key={text} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {analysis.anova.map((one) => (
              <tr key={one.source}>
                <th scope="row">{one.source}</th>
                <td class="number">{digits(one.sum_sq)}</td>
                <td class="number">{count(one.df)}</td>
                <td class="number">{digits(one.mean_sq)}</td>
                <td class="number">{one.f == null ? "" : digits(one.f)}</td>
                <td class="number">{one.p == null ? "" : pValue(one.p)}</td>
                <td class="number">{one.percent_of_variation.toFixed(1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </ChartFrame>
  );
}
