// Everything that is said about the runs, sentence by sentence, and how certain it is.

import type { Said, SaidKind } from "../contract";
import { dimensionName } from "../data/model";
import { typeset } from "../format/units";
import { useView } from "../view";
import { Unfiltered } from "./Unfiltered";

const GROUPS: readonly [SaidKind, string, string][] = [
  ["real", "Real differences", "at the run's confidence level, adjusted for all comparisons"],
  ["not-told-apart", "Could not be told apart", "the data do not show which is faster"],
  [
    "described",
    "Measured, not compared",
    "only one target, too few blocks, or a metric where neither direction is better",
  ],
  ["cliff", "Cliffs", "where a curve breaks, and why"],
  ["sureness", "How sure this is", ""],
];

export function Words() {
  const { report } = useView();
  return (
    <>
      {report.runs.map(({ page, document }, run) => (
        <article key={page.name} class="run">
          {report.runs.length > 1 && (
            <p class="lead">
              {page.name}: {document.run.suite} of{" "}
              {document.targets.map((target) => target.label).join(", ")}
            </p>
          )}
          {GROUPS.map(([kind, title, note]) => (
            <Group key={kind} run={run} kind={kind} title={title} note={note} />
          ))}
        </article>
      ))}
    </>
  );
}

interface GroupProps {
  run: number;
  kind: SaidKind;
  title: string;
  note: string;
}

function Group({ run, kind, title, note }: GroupProps) {
  const { report, selection } = useView();
  const said = (report.runs[run]?.page.prose ?? []).filter(
    (one) => one.kind === kind && selection.isShown(run, one),
  );
  if (said.length === 0) return null;
  return (
    <div class={`said ${kind}`}>
      <h3>
        {title} <span class="count">{kind === "sureness" ? "" : said.length}</span>
        {note !== "" && <small>{note}</small>}
      </h3>
      {kind === "sureness" && <Unfiltered what="This" />}
      {byDimension(said).map(([dimension, sentences]) => (
        <div key={dimension} class="of-dimension">
          {dimension !== "" && <h4>{dimension}</h4>}
          <ul>
            {sentences.map((one) => (
              <li key={one.text}>
                <Sentence said={one} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

/** A sentence. Its subject is a link to its charts. */
function Sentence({ said }: { said: Said }) {
  const { report, go } = useView();
  const text = typeset(said.text);
  const subject =
    report.benchmarks.find((one) => one.name === said.subject && one.curve === null) ??
    report.curves.find((one) => one.name === said.subject);
  const end = text.indexOf(": ");
  if (subject === undefined || end < 0) return <>{text}</>;
  const isCurve = "benchmarks" in subject;
  const section = isCurve ? `dimension-${subject.dimension}` : "distribution";
  return (
    <>
      <button
        type="button"
        class="link"
        onClick={() => go({ section, benchmark: subject.key, dimension: null })}
      >
        {text.slice(0, end)}
      </button>
      {text.slice(end)}
    </>
  );
}

function byDimension(said: Said[]): [string, Said[]][] {
  const groups = new Map<string, Said[]>();
  for (const one of said) {
    const name = one.dimension == null ? "" : dimensionName(one.dimension);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups];
}
