// The largest real differences: for each benchmark, the target that is worst compared to the best,
// with the largest ratio first.

import { useMemo } from "preact/hooks";
import { isOfOthers, isSearch, type Side } from "../data/model";
import { type Standing, saidRelative, standings, verb, worse } from "../data/standing";
import { meaningOf } from "../data/verdicts";
import { count, ratio } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { Fold } from "./Fold";

interface Large {
  key: string;
  title: string;
  best: Standing;
  worst: Standing;
  ratio: number;
}

/** The number of differences shown without being asked for. */
const SHOWN = 8;
/** The number of benchmarks without a difference that are shown without being asked for. */
const FEW = 8;

/** File systems whose files are in memory: beside others, they come first in nearly everything. */
const OF_MEMORY = ["tmpfs", "ramfs", "densefs"];

/** The targets that are left aside, if at least two others remain, which keep their files. */
export function asideOf({ report, selection }: Pick<View, "report" | "selection">): Side[] {
  const isOfMemory = ({ run, target }: Side) =>
    report.runs[run]?.document.targets.some(
      (one) => one.label === target && OF_MEMORY.includes(one.file_system),
    ) ?? false;
  const aside = selection.sides.filter(isOfMemory);
  return selection.sides.length - aside.length < 2 ? [] : aside;
}

function largestOf(view: View): Large[] {
  const { report, selection } = view;
  const aside = asideOf(view);
  const found = selection.benchmarks.flatMap((benchmark): Large[] => {
    if (!isOfOthers(report, benchmark)) return [];
    const cells = benchmark.cells.filter(({ side }) => !aside.includes(side));
    const all = standings(report, { ...benchmark, cells });
    const { key, title } = benchmark;
    return runsOf(all).flatMap((own): Large[] => {
      const best = own.find((one) => one.isFirst);
      const worst = own.filter(isDifferent).sort((one, other) => ratioOf(other) - ratioOf(one))[0];
      return best && worst ? [{ key, title, best, worst, ratio: ratioOf(worst) }] : [];
    });
  });
  return found.sort((one, other) => other.ratio - one.ratio);
}

function runsOf(all: Standing[]): Standing[][] {
  const runs = [...new Set(all.map(({ cell }) => cell.side.run))];
  return runs.map((run) => all.filter(({ cell }) => cell.side.run === run));
}

function isDifferent({ relative, isFirst }: Standing): boolean {
  return relative !== null && !isFirst && meaningOf(relative.verdict).isDifferent;
}

/** Whether a few long operations determine the mean. */
function isOfFew({ cell }: Standing): boolean {
  return cell.report.warnings.some(({ kind }) => kind === "stalls");
}

function ratioOf({ relative }: Standing): number {
  return relative?.ratio ?? 1;
}

/** Whether any two targets can be compared. Probes of searches do not count. */
export function hasLargest({ report }: View): boolean {
  return report.runs.some(
    (run) => !isSearch(run) && run.document.comparisons.some((one) => one.ratio != null),
  );
}

export function Largest() {
  const view = useView();
  const all = useMemo(() => largestOf(view), [view.report, view.selection]);
  if (all.length === 0) {
    return (
      <>
        <p>No real difference between the targets shown.</p>
        <Alike large={all} />
      </>
    );
  }
  const aside = asideOf(view);
  const most = Math.max(...all.map((one) => one.ratio));
  const rest = all.slice(SHOWN);
  return (
    <>
      <p class="note">
        {aside.length > 0 && `Apart from ${aside.map(({ label }) => label).join(" and ")}. `}
        Bars grow with the logarithm of the ratio, from 1× to {ratio(most)}.
      </p>
      <List all={all.slice(0, SHOWN)} most={most} />
      {rest.length > 0 && (
        <Fold title={`${count(rest.length)} smaller ones`}>
          {() => <List all={rest} most={most} />}
        </Fold>
      )}
      <Alike large={all} />
    </>
  );
}

/** The benchmarks on which nothing differs, as far as is known. */
function Alike({ large }: { large: Large[] }) {
  const { report, selection } = useView();
  const isLarge = new Set(large.map(({ key }) => key));
  const alike = selection.benchmarks.filter(
    (one) =>
      isOfOthers(report, one) &&
      !isLarge.has(one.key) &&
      standings(report, one).some(({ isAlike }) => isAlike),
  );
  if (alike.length === 0) return null;
  return (
    <Fold
      title={`${count(alike.length)} on which nothing can be told apart`}
      open={alike.length <= FEW}
    >
      {() => (
        <p class="alike-list">
          {alike.map(({ key, title }, index) => (
            <span key={key}>
              {index > 0 && " · "}
              <BenchmarkLink benchmark={key} title={title} />
            </span>
          ))}
        </p>
      )}
    </Fold>
  );
}

function List({ all, most }: { all: Large[]; most: number }) {
  const { report, theme } = useView();
  const { runs } = report;
  return (
    <ol class="largest">
      {all.map(({ key, title, best, worst, ratio: value }) => {
        const said = worst.relative ? saidRelative(worst.relative) : { value: "", interval: "" };
        const width = `${Math.max(2, (100 * Math.log(value)) / Math.log(most))}%`;
        return (
          <li key={`${key} ${worst.cell.side.label}`}>
            <BenchmarkLink benchmark={key} title={title} />
            <span class="largest-said">
              {worst.cell.side.target} {verb(worst.metric)}
              <b>{said.value}</b> {worse(worst.metric)} than {best.cell.side.target}
              <small> {said.interval}</small>
              {isOfFew(worst) && <small> by a few long operations</small>}
              {runs.length > 1 && <small> in {runs[worst.cell.side.run]?.page.name}</small>}
            </span>
            <span class="bar" aria-hidden="true">
              <span style={{ width, background: colourOf(theme, worst.cell.side) }} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** A link to everything that is known about a benchmark. */
function BenchmarkLink({ benchmark, title }: { benchmark: string; title: string }) {
  const { go } = useView();
  return (
    <button
      type="button"
      class="link"
      onClick={() => go({ section: "distribution", benchmark, dimension: null })}
    >
      {title}
    </button>
  );
}
