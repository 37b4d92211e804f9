// Effects and contrasts: how much each target (or run) costs over all benchmarks, as in the
// analysis of variance of the Bonnie paper, and the verdict on each pair.

import { ChartFrame, measured } from "../charts/frame";
import { GridTable } from "../charts/grid/GridTable";
import { depthOf, type GridCell, type GridModel, gridSvg } from "../charts/grid/grid-svg";
import { IntervalChart } from "../charts/interval/IntervalChart";
import { pictureOf } from "../charts/picture";
import { Scrolling } from "../charts/scrolling";
import type { AnovaAnswer, RatioDocument } from "../contract";
import { count, digits, percent, pValue, ratio, ratioTick, ratioWithin } from "../format/units";
import { colourOfTarget, useView, type View } from "../view";
import { Fold } from "./Fold";
import { Unfiltered } from "./Unfiltered";

/** A value with its intervals, for an effect or its ratio. */
type Estimated = Pick<RatioDocument, "estimate" | "intervals">;

export function Effects() {
  const view = useView();
  const { comparison, refused } = view.report.payload.effects;
  if (comparison == null) return <p>No effects: {refused}</p>;
  const level = percent(comparison.level);
  return (
    <>
      <Unfiltered what="The analysis" />
      {comparison.warnings.map((warning) => (
        <p key={warning} class="doubt">
          {warning}
        </p>
      ))}
      {comparison.analysis == null ? (
        <p>No analysis of variance: {comparison.analysis_refused}</p>
      ) : (
        <Analysis analysis={comparison.analysis} level={level} />
      )}
      {comparison.left_out.length > 0 && (
        <p class="note">
          Not in the analysis, because a side lacks them or they are ratios or not costs:{" "}
          {comparison.left_out.join("; ")}.
        </p>
      )}
    </>
  );
}

/** Whether a level is drawn. Targets that are filtered out are not, but the analysis still covers
 * all. */
function isShownLevel({ selection }: View, factor: string, level: string): boolean {
  return factor !== "target" || selection.sides.some((side) => side.target === level);
}

function Analysis({ analysis, level }: { analysis: AnovaAnswer; level: string }) {
  const view = useView();
  // It is not news that one benchmark costs more than another.
  const effects = analysis.effects.filter(
    (one) => one.factor !== "benchmark" && isShownLevel(view, one.factor, one.level),
  );
  const factors = [...new Set(effects.map((one) => one.factor))];
  const isRatio = effects.every((one) => one.ratio != null);
  return (
    <>
      <IntervalChart
        model={{
          title: "Effects on cost, over all benchmarks",
          axis: {
            label: isRatio ? "cost relative to the geometric mean" : "difference from the mean",
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
                  said: ends ? withEnds(estimate, ends, isRatio) : said(estimate),
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
      <Fold title="Analysis of variance">{() => <VarianceTable analysis={analysis} />}</Fold>
    </>
  );
}

/** An estimate with its interval in words. */
function withEnds(
  estimate: number,
  { low, high }: { low: number; high: number },
  isRatio: boolean,
): string {
  if (!isRatio) return `${digits(estimate)} [${digits(low)}, ${digits(high)}]`;
  const { value, interval } = ratioWithin(estimate, low, high);
  return `${value} ${interval}`;
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
  const view = useView();
  const { theme } = view;
  const isDrawn = (level: string) => isShownLevel(view, factor, level);
  const contrasts = analysis.contrasts.filter(
    (one) => one.factor === factor && isDrawn(one.first) && isDrawn(one.second),
  );
  const levels = [...new Set(contrasts.flatMap((one) => [one.first, one.second]))];
  if (levels.length < 2) return null;
  const model: GridModel = {
    title: `Contrasts: ${factor}, row over column`,
    columns: levels,
    rows: levels.map((row) => ({
      name: row,
      cells: levels.map((column) => contrastCell(contrasts, row, column)),
    })),
  };
  return (
    <ChartFrame
      title={`Contrasts: ${factor}`}
      picture={() => pictureOf(() => gridSvg(model, theme))}
      file={`contrasts-${factor}`}
      summary={`The row's cost divided by the column's, over all benchmarks, with its ${level} interval; p is adjusted for all pairs.`}
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
            measured(estimate, one.ratio ? ratio : digits),
            measured(ends?.low, one.ratio ? ratio : digits),
            measured(ends?.high, one.ratio ? ratio : digits),
            measured(one.p, pValue),
            measured(one.p_adjusted, pValue),
          ];
        }),
      })}
    >
      <GridTable model={model} corner={<span class="hidden">row over column</span>} />
    </ChartFrame>
  );
}

function contrastCell(
  contrasts: AnovaAnswer["contrasts"],
  row: string,
  column: string,
): GridCell | null {
  const found = contrasts.find(
    (one) =>
      (one.first === row && one.second === column) || (one.first === column && one.second === row),
  );
  if (found === undefined) return null;
  // A contrast is the first over, or minus, the second.
  const turned = found.first !== row;
  const own = found.ratio;
  const ends = (own?.intervals ?? found.intervals)[0];
  const turn = (it: number) => (turned ? (own ? 1 / it : -it) : it);
  const value = own?.estimate ?? found.difference;
  const isAbove = value > (own ? 1 : 0);
  const [low, high] = turned ? [ends?.high, ends?.low] : [ends?.low, ends?.high];
  const said =
    low !== undefined && high !== undefined
      ? withEnds(turn(value), { low: turn(low), high: turn(high) }, own != null).split(/ (?=\[)/)
      : [own ? ratio(turn(value)) : digits(turn(value))];
  return {
    lines: [...said, pValue(found.p_adjusted)],
    depth: own ? depthOf(value) : 0,
    isDear: isAbove !== turned,
    isAlike: found.p_adjusted >= 1 - (ends?.level ?? 0.95),
  };
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
          measured(one.p, pValue),
          one.percent_of_variation,
        ]),
      })}
    >
      <Scrolling label="Analysis of variance">
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
                <td class="number">{digits(one.percent_of_variation, 2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </ChartFrame>
  );
}
