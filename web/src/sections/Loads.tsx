// Which target would be quickest for a load, in the words of the report.

import { GridTable } from "../charts/grid/GridTable";
import type { LoadDoubt } from "../contract";
import type { RunView } from "../data/model";
import { type Relative, relativeTo } from "../data/relative";
import { meaningOf } from "../data/verdicts";
import { useView, type View } from "../view";
import { Fold } from "./Fold";
import { gridCell } from "./Map";

const DOUBTS: Record<LoadDoubt, string> = {
  contradicted: "a program contradicts this",
  unconfirmed: "not confirmed by a program",
};

const MARKS: Record<LoadDoubt, string> = { contradicted: " !", unconfirmed: " *" };

const runsOf = (view: View) => view.report.runs.filter(({ page }) => page.loads.length > 0);

export const hasLoads = (view: View): boolean => runsOf(view).length > 0;

export function Loads() {
  const runs = runsOf(useView());
  return (
    <>
      <p class="note">
        Estimated from the times of a load's operations, added up. Operations that get in each
        other's way take longer.
      </p>
      {runs.map((run) => (
        <LoadsOfRun key={run.page.name} run={run} isNamed={runs.length > 1} />
      ))}
    </>
  );
}

function LoadsOfRun({ run, isNamed }: { run: RunView; isNamed: boolean }) {
  const { name, loads } = run.page;
  const targets = run.document.targets.map(({ label }) => label);
  const words = (
    <dl class="loads">
      {loads.map(({ title, answer, doubt }) => (
        <div key={title}>
          <dt>For {title}</dt>
          <dd>
            {answer}
            {doubt && <span class="note"> ({DOUBTS[doubt]})</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
  // With few blocks nothing is compared, and with one target there is nothing to compare.
  const isCompared = (run.document.loads ?? []).some((load) =>
    load.comparisons.some(({ ratio }) => ratio != null),
  );
  return (
    <div>
      {isNamed && <h3>{name}</h3>}
      {isCompared ? <Compared run={run} targets={targets} /> : words}
      <Fold title="What the loads are, and what they leave out">
        {() => (
          <>
            {isCompared && words}
            {loads.map(({ title, notes }) => (
              <p key={title} class="note">
                <strong>For {title}</strong>: {notes.join(" ")}
              </p>
            ))}
          </>
        )}
      </Fold>
    </div>
  );
}

/** The cost of a load on each target, as a multiple of the quickest. */
function Compared({ run, targets }: { run: RunView; targets: string[] }) {
  const lines = run.page.loads;
  const loads = (run.document.loads ?? []).filter((load) =>
    lines.some(({ title }) => title === load.title),
  );
  const doubtOf = (title: string) => lines.find((line) => line.title === title)?.doubt;
  const placesOf = (all: Relative[]) =>
    targets.map((target) => {
      const found = all.find((one) => one.target === target);
      const isBest = all.some((one) => !one.isReference && meaningOf(one.verdict).isDifferent);
      return found ? gridCell(found, found.isReference && isBest) : null;
    });
  const rows = loads.map((load) => ({
    name: load.title,
    cells: placesOf(relativeTo(load.comparisons, targets, "")),
  }));
  const doubts = ["unconfirmed", "contradicted"] as const;
  const said = doubts
    .filter((doubt) => loads.some(({ title }) => doubtOf(title) === doubt))
    .map((doubt) => `${MARKS[doubt].trim()} ${DOUBTS[doubt]}`);
  return (
    <>
      <GridTable
        model={{ title: "Time of a load, as a multiple of the quickest", columns: targets, rows }}
        corner="For"
        isFlat
        nameOf={(row) => {
          const title = loads[row]?.title ?? "";
          const doubt = doubtOf(title);
          return (
            <>
              {title}
              {doubt && <abbr title={DOUBTS[doubt]}>{MARKS[doubt]}</abbr>}
            </>
          );
        }}
      />
      {said.length > 0 && <p class="note">{said.join("; ")}</p>}
    </>
  );
}
