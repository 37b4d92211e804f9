// What was left out or given up, with the reasons.

import { typeset } from "../format/units";
import { useView, type View } from "../view";
import { Unfiltered } from "./Unfiltered";

/** Sentences about what was not measured, for the runs that are shown. */
export function refusedOf({ report, selection }: View): string[] {
  return report.runs.flatMap(({ page }, run) =>
    page.prose
      .filter((one) => one.kind === "refused" && selection.isShown(run, one))
      .map(({ text }) => (report.runs.length > 1 ? `${page.name}: ${text}` : text)),
  );
}

export function hasUnmeasured(view: View): boolean {
  return refusedOf(view).length > 0;
}

export function Unmeasured() {
  const view = useView();
  return (
    <>
      <Unfiltered what="This list" />
      <ul class="warnings">
        {refusedOf(view).map((text) => (
          <li key={text}>{typeset(text)}</li>
        ))}
      </ul>
    </>
  );
}
