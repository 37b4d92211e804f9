// Which known benchmarking mistakes a run contains, with the evidence for each and how to avoid it.

import type { Check, CheckDocument } from "../contract";
import { typeset } from "../format/units";
import { useView, type View } from "../view";
import { Unfiltered } from "./Unfiltered";

interface Checked {
  name: string;
  mistakes: CheckDocument;
}

function checkedOf({ report }: View): Checked[] {
  return report.payload.runs.flatMap(({ name, mistakes }) =>
    mistakes ? [{ name, mistakes }] : [],
  );
}

export const hasMistakes = (view: View): boolean => checkedOf(view).length > 0;

export function Mistakes() {
  const runs = checkedOf(useView());
  return (
    <>
      <Unfiltered what="This list" />
      {runs.map(({ name, mistakes }) => (
        <div key={name}>
          {runs.length > 1 && <h3>{name}</h3>}
          <OneRun {...mistakes} />
        </div>
      ))}
    </>
  );
}

function OneRun({ found, known, checks }: CheckDocument) {
  const passed = checks.filter(({ outcome }) => outcome === "passed");
  const untold = checks.filter(({ cannot_tell }) => cannot_tell != null);
  return (
    <>
      <p>
        {found === 0 ? "None" : found} of {known} known mistakes of benchmarking.
      </p>
      {checks
        .filter(({ outcome }) => outcome === "found")
        .map((check) => (
          <Found key={check.mistake} {...check} />
        ))}
      {untold.length > 0 && (
        <>
          <h3>Cannot tell</h3>
          <ul class="warnings">
            {untold.map(({ mistake, title, outcome, cannot_tell }) => (
              <li key={mistake}>
                <b>{capitalised(title)}</b>
                {outcome === "cannot-tell" ? "" : ", in part"}: {typeset(cannot_tell ?? "")}
              </li>
            ))}
          </ul>
        </>
      )}
      {passed.length > 0 && (
        <p class="note">Passed: {passed.map(({ title }) => title).join("; ")}.</p>
      )}
    </>
  );
}

function Found({ title, source, findings }: Check) {
  const avoid = [...new Set(findings.map((one) => one.avoid))].join("; ");
  return (
    <>
      <h3>{capitalised(title)}</h3>
      <ul class="warnings">
        {findings.map(({ message }) => (
          <li key={message}>{typeset(message)}</li>
        ))}
      </ul>
      <p>
        Avoid it: {typeset(avoid)} <span class="note">({source})</span>
      </p>
    </>
  );
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
