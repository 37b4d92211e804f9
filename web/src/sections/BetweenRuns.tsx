// Each target before and after: later runs relative to the first, benchmark by benchmark. What
// differs comes first, the rest on demand.

import { IntervalChart } from "../charts/interval/IntervalChart";
import type { Better, CompareDocument, RunComparison, RunVerdict } from "../contract";
import type { Report, Side } from "../data/model";
import { meaningOf } from "../data/verdicts";
import { count, percent, ratio, ratioTick, ratioWithin } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { Fold } from "./Fold";

/** The most benchmarks in one chart. */
const GROUPS_MOST = 24;

export function BetweenRuns() {
  const { comparison } = useView().report.payload.effects;
  return comparison == null ? null : <Changes comparison={comparison} />;
}

function Changes({ comparison }: { comparison: CompareDocument }) {
  const view = useView();
  const shown = comparison.comparisons.filter((one) => isShown(view, one) && one.ratio != null);
  const isDifferent = (one: RunComparison) => meaningOf(one.verdict).isDifferent;
  const different = shown.filter(isDifferent);
  const others = shown.filter((one) => !isDifferent(one));
  const [first, ...later] = comparison.runs.map((run) => run.name);
  const title = `${later.join(", ")} over ${first}`;
  const verdicts = new Map<RunVerdict, number>();
  for (const one of shown) verdicts.set(one.verdict, (verdicts.get(one.verdict) ?? 0) + 1);
  const counts = [...verdicts].map(
    ([verdict, much]) => `${count(much)} ${meaningOf(verdict).counted}`,
  );
  const charts = (all: RunComparison[], what: string) =>
    parts(all).map((part, index) => (
      <IntervalChart
        key={`${what} ${part[0]?.benchmark}`}
        model={{
          title: `${title}: ${what}${index > 0 ? `, part ${index + 1}` : ""}`,
          axis: { label: "ratio of the primary metric", kind: "log10", format: ratioTick },
          groups: groupsOf(view, part, later.length > 1),
          reference: 1,
        }}
        theme={view.theme}
        file={`between-runs-${what}`}
        summary={`Each target's primary metric in a later run divided by that in ${first}, with its interval; hollow dots: no difference shown.`}
      />
    ));
  if (shown.length === 0) {
    return (
      <>
        <p>{title}: no benchmark shown has enough blocks in both runs to compare.</p>
        <Unlike comparison={comparison} />
      </>
    );
  }
  return (
    <>
      {different.length === 0 && <p>No difference is shown on the benchmarks selected.</p>}
      <div class="pair">
        {JUDGEMENTS.map((judgement) => (
          <Changed
            key={judgement}
            judgement={judgement}
            all={different.filter((one) => judgementOf(view.report, one) === judgement)}
            several={later.length > 1}
          />
        ))}
      </div>
      <Unlike comparison={comparison} />
      <Fold title={`As charts, and all ${count(shown.length)} comparisons`}>
        {() => (
          <>
            <p>
              {title}: {counts.join(" · ")} (margin {percent(comparison.margin)})
            </p>
            {charts(different, "differences")}
            {charts(others, "others")}
          </>
        )}
      </Fold>
    </>
  );
}

/** The kinds of changes, in the order in which they are shown. */
const JUDGEMENTS = ["worse", "better", "more", "less", "different"] as const;
type Judgement = (typeof JUDGEMENTS)[number];

/** The number of changes shown without being asked for. */
const SHOWN = 8;

interface ChangedProps {
  judgement: Judgement;
  all: RunComparison[];
  several: boolean;
}

/** What became worse, or better, with the largest change first. */
function Changed({ judgement, all, several }: ChangedProps) {
  if (all.length === 0) return null;
  const distance = (one: RunComparison) => Math.abs(Math.log(one.ratio ?? 1));
  const sorted = [...all].sort((one, other) => distance(other) - distance(one));
  const most = distance(sorted[0] as RunComparison);
  const rest = sorted.slice(SHOWN);
  const list = (some: RunComparison[]) => (
    <ol class="largest">
      {some.map((one) => (
        <Change
          key={`${keyOf(one)} ${one.second} ${one.second_run}`}
          one={one}
          several={several}
          share={distance(one) / most}
        />
      ))}
    </ol>
  );
  return (
    <div class={`changed ${judgement}`}>
      <h3>
        {judgement[0]?.toUpperCase()}
        {judgement.slice(1)} <span class="count">{count(all.length)}</span>
      </h3>
      {list(sorted.slice(0, SHOWN))}
      {rest.length > 0 && <Fold title={`${count(rest.length)} more`}>{() => list(rest)}</Fold>}
    </div>
  );
}

function Change(props: { one: RunComparison; several: boolean; share: number }) {
  const view = useView();
  const { one, several, share } = props;
  const { low, high } = one.interval ?? { low: one.ratio as number, high: one.ratio as number };
  const said = ratioWithin(one.ratio as number, low, high);
  const { said: how } = meaningOf(one.verdict);
  return (
    <li>
      <button
        type="button"
        class="link"
        onClick={() => view.go({ section: "distribution", benchmark: keyOf(one), dimension: null })}
      >
        {one.title}
      </button>
      <span class="largest-said">
        {one.second} {several && `(${one.second_run}) `}
        <b>{said.value}</b>
        <small> {one.interval ? said.interval : ""}</small>
        {how !== "" && how !== "in these runs" && <small> {how}</small>}
      </span>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(2, 100 * share)}%` }} />
      </span>
    </li>
  );
}

/** How else the runs differ, and what cannot be compared because of that. */
function Unlike({ comparison }: { comparison: CompareDocument }) {
  const { differences, unlike, runs } = comparison;
  const [first] = runs;
  return (
    <>
      {differences.length > 0 && (
        <Fold title={`The runs also differ in ${count(differences.length)} other ways`} open>
          {() => (
            <ul class="warnings">
              {differences.map(({ run, what, first: before, second }) => (
                <li key={`${run} ${what}`}>
                  <b>{what}</b>: {before} in {first?.name}, {second} in {run}
                </li>
              ))}
            </ul>
          )}
        </Fold>
      )}
      {unlike.length > 0 && (
        <Fold title={`${count(unlike.length)} were measured differently, so are not compared`}>
          {() => (
            <ul class="warnings">
              {unlike.map(({ run, target, title, why }) => (
                <li key={`${run} ${target} ${title}`}>
                  {title}, {target}: {why}
                </li>
              ))}
            </ul>
          )}
        </Fold>
      )}
    </>
  );
}

function isShown({ report, selection }: View, one: RunComparison): boolean {
  const side = sideOf(report, one.second_run, one.second);
  return (
    selection.benchmarks.some((benchmark) => benchmark.key === keyOf(one)) &&
    selection.sides.some((shown) => shown === side)
  );
}

function keyOf({ suite, benchmark }: RunComparison): string {
  return `${suite}/${benchmark}`;
}

function sideOf(report: Report, run: string, target: string): Side | undefined {
  return report.sides.find(
    (side) => side.target === target && report.runs[side.run]?.page.name === run,
  );
}

/** Splits the comparisons into parts of limited size, with each benchmark in one part. */
function parts(all: RunComparison[]): RunComparison[][] {
  const titles = [...new Set(all.map((one) => one.title))];
  const found: RunComparison[][] = [];
  for (let at = 0; at < titles.length; at += GROUPS_MOST) {
    const some = new Set(titles.slice(at, at + GROUPS_MOST));
    found.push(all.filter((one) => some.has(one.title)));
  }
  return found;
}

function groupsOf(view: View, all: RunComparison[], several: boolean) {
  const titles = [...new Set(all.map((one) => one.title))];
  return titles.map((title) => ({
    title,
    rows: all
      .filter((one) => one.title === title)
      .map((one) => ({
        label: several ? `${one.second} · ${one.second_run}` : one.second,
        colour: colourOfSide(view, one),
        value: one.ratio as number,
        low: one.interval?.low,
        high: one.interval?.high,
        said: saidOf(view, one),
        hollow: !meaningOf(one.verdict).isDifferent,
      })),
  }));
}

function colourOfSide({ report, theme }: View, one: RunComparison): string {
  const side = sideOf(report, one.second_run, one.second);
  return side === undefined ? theme.ink : colourOf(theme, side);
}

/** `1.20×, worse`, or `1.01×, worse, perhaps only slightly`. */
function saidOf({ report }: View, one: RunComparison): string {
  const own = ratio(one.ratio as number);
  const { isDifferent, said } = meaningOf(one.verdict);
  if (!isDifferent) return `${own}, ${said}`;
  return `${own}, ${judgementOf(report, one)}${said && `, ${said}`}`;
}

function judgementOf(report: Report, one: RunComparison): Judgement {
  const benchmark = report.benchmarks.find((it) => it.key === keyOf(one));
  const metrics = benchmark?.cells.flatMap((cell) => cell.report.metrics);
  const direction = metrics?.find((metric) => metric.name === one.metric)?.better;
  return direction ? judged(direction, (one.ratio as number) > 1) : "different";
}

function judged(direction: Better, isMore: boolean): Judgement {
  if (direction === "neither") return isMore ? "more" : "less";
  return (direction === "higher") === isMore ? "better" : "worse";
}
