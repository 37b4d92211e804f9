// What changed between two traces: figures of both, a flame graph of the difference, and tables by
// category and function.

import { useMemo } from "preact/hooks";
import { Scrolling } from "../charts/scrolling";
import type { Difference as Compared, Row, Share } from "../contract";
import { type Shown, shownOf, subjectsOf } from "../data/footprint";
import { changed, count } from "../format/units";
import { useView } from "../view";
import { Fold } from "./Fold";
import { Choices, OneFlameGraph, SimulatedCaches, WeightChoices } from "./Footprint";

/** The number of functions shown without being asked for. */
const FUNCTIONS_SHOWN = 40;

export function Difference() {
  const { report, selection, route } = useView();
  const subjects = useMemo(() => subjectsOf(report, selection), [report, selection]);
  const shown = shownOf(subjects, route.footprint, report.payload.compared);
  const difference = shown?.difference;
  if (!shown || !difference) return <h1 id="difference-title">Nothing was compared.</h1>;
  const { before, after, operation, categories, functions } = difference;
  const graphs = [shown.subject, shown.against].flatMap(
    (side) => side?.operations.get(operation)?.graphs.get(shown.frames) ?? [],
  );
  return (
    <>
      <h1 id="difference-title">{headline(difference)}</h1>
      <Choices shown={shown} />
      <Figures shown={shown} />
      <h2>Where it changed</h2>
      {graphs.length === 2 && (
        <>
          <WeightChoices shown={shown} graphs={graphs} />
          {shown.weight.endsWith("_misses") && <SimulatedCaches graphs={graphs} />}
          <OneFlameGraph key={shown.frames} graphs={graphs} weight={shown.weight} />
        </>
      )}
      <p>
        By category, from {before} to {after}. A line counts for each category that touches it.
      </p>
      <Rows rows={categories} name="Category" />
      {functions.length === 0 ? (
        <p>No function changed.</p>
      ) : (
        <Fold title={`The ${count(functions.length)} functions that changed`} open>
          {() => (
            <>
              <Rows rows={functions.slice(0, FUNCTIONS_SHOWN)} name="Function" />
              {functions.length > FUNCTIONS_SHOWN && (
                <Fold title={`${count(functions.length - FUNCTIONS_SHOWN)} more`}>
                  {() => <Rows rows={functions.slice(FUNCTIONS_SHOWN)} name="Function" />}
                </Fold>
              )}
            </>
          )}
        </Fold>
      )}
    </>
  );
}

/** What changed, in a sentence: `create: 12 more instructions in xfs than in ext4.` */
function headline(difference: Compared): string {
  const { operation, before, after } = difference;
  const [then, now] = [executed(difference, "before"), executed(difference, "after")];
  if (then === now) return `${operation}: as many instructions in ${after} as in ${before}.`;
  const more = now > then ? "more" : "fewer";
  return `${operation}: ${count(Math.abs(now - then))} ${more} instructions in ${after} than in ${before}.`;
}

function executed({ categories }: Compared, of: "before" | "after"): number {
  return categories.reduce((sum, row) => sum + row[of].instructions, 0);
}

/** Reasons to doubt the traces. */
export function DifferenceWarnings() {
  const { report } = useView();
  const warnings = report.payload.compared?.warnings ?? [];
  if (warnings.length === 0) return <p>None.</p>;
  return (
    <ul class="warnings">
      {[...new Set(warnings)].map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** The figures of both traces as a whole. */
function Figures({ shown }: { shown: Shown }) {
  const { subject, against, operation, difference } = shown;
  if (difference === null) return null;
  const lines = (side: typeof against, of: "instructions" | "data") =>
    side?.operations.get(operation)?.cachemaps.get(of)?.address.length ?? 0;
  const rows: [string, number, number][] = [
    ["instructions executed", executed(difference, "before"), executed(difference, "after")],
    ["lines of code", lines(against, "instructions"), lines(subject, "instructions")],
    ["lines of data", lines(against, "data"), lines(subject, "data")],
  ];
  return (
    <Scrolling label={operation}>
      <table>
        <thead>
          <tr>
            <th scope="col">{operation}</th>
            <th scope="col">{against?.label}</th>
            <th scope="col">{subject.label}</th>
            <th scope="col">change</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, before, after]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{count(before)}</td>
              <td class="number">{count(after)}</td>
              <td class="number">{changed(before, after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

const COUNTS: readonly [keyof Share, string][] = [
  ["instructions", "instructions"],
  ["instruction_lines", "code lines"],
  ["data_lines", "data lines"],
];

/** What categories or functions do in the second trace, and how that changed. */
function Rows({ rows, name }: { rows: Row[]; name: string }) {
  return (
    <Scrolling label={name}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            {COUNTS.flatMap(([key, unit]) => [
              <th key={`${key} before`} scope="col">
                {unit} before
              </th>,
              <th key={`${key} after`} scope="col">
                after
              </th>,
              <th key={`${key} change`} scope="col">
                change
              </th>,
            ])}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ category, function: own, before, after }) => (
            <tr key={`${category} ${own}`}>
              <th scope="row">{own == null ? category : `${own} (${category})`}</th>
              {COUNTS.flatMap(([key]) => [
                <td key={`${key} before`} class="number">
                  {count(before[key])}
                </td>,
                <td key={`${key} after`} class="number">
                  {count(after[key])}
                </td>,
                <td key={`${key} change`} class="number">
                  {changed(before[key], after[key])}
                </td>,
              ])}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
