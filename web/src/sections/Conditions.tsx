// Where, when and under which conditions a run was measured.

import { typeset } from "../format/units";
import { useView } from "../view";

export function Conditions({ run }: { run: number }) {
  const { report, selection } = useView();
  const said = report.runs[run]?.page.prose.filter((one) => one.kind === "condition") ?? [];
  const targets = said.filter((one) => one.targets.length > 0 && selection.isShown(run, one));
  return (
    <>
      {said
        .filter((one) => one.targets.length === 0)
        .map((one) => (
          <p key={one.text}>{typeset(one.text)}</p>
        ))}
      <dl class="conditions">
        {targets.map((one) => (
          <div key={one.targets[0]}>
            <dt>{one.targets[0]}</dt>
            <dd>{typeset(one.text)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
