// The top of the report: what was compared, where, when, on which conditions; and what may be said.

import type { Said, SaidKind } from "../contract";
import { dimensionName } from "../data/model";
import { typeset } from "../format/units";
import { useView } from "../view";

const GROUPS: readonly [SaidKind, string, string][] = [
  ["real", "Real differences", "at the run's confidence level, adjusted for all comparisons"],
  ["not-told-apart", "Could not be told apart", "the data do not show which is faster"],
  [
    "described",
    "Measured, not compared",
    "only one target, too few blocks, or a metric where neither direction is better",
  ],
  ["cliff", "Cliffs", "where a curve breaks, and why"],
  ["refused", "Refused", "not measured or given up, with the reason"],
  ["sureness", "How sure this is", ""],
];

export function Summary() {
  const { report } = useView();
  return (
    <>
      {report.runs.map(({ page, document }, run) => (
        <article key={page.name} class="run">
          <h3>
            {report.runs.length > 1 && `${page.name}: `}
            {document.run.suite} of {document.targets.map((target) => target.label).join(", ")}
          </h3>
          <Lead run={run} />
          <Conditions run={run} />
          {GROUPS.map(([kind, title, note]) => (
            <Group key={kind} run={run} kind={kind} title={title} note={note} />
          ))}
        </article>
      ))}
    </>
  );
}

/** The whole in one line. */
function Lead({ run }: { run: number }) {
  const { report, selection } = useView();
  const said = report.runs[run]?.page.prose.filter((one) => selection.isShown(run, one)) ?? [];
  const clause = (kind: SaidKind, words: (much: number) => string) => {
    // A curve has a sentence for each of its metrics, and is one thing.
    const those = said.filter((one) => one.kind === kind);
    const much = new Set(those.map((one) => one.subject ?? one.text)).size;
    return much === 0 ? [] : words(much);
  };
  const noun = (much: number, word: string) => `${much} ${word}${much === 1 ? "" : "s"}`;
  const clauses = [
    clause("real", (n) => `${noun(n, "benchmark")} with real differences`),
    clause("not-told-apart", (n) => `${noun(n, "benchmark")} on which nothing can be told apart`),
    clause("refused", (n) => `${noun(n, "item")} refused`),
    clause("warning", (n) => `${noun(n, "warning")}`),
  ].flat();
  return clauses.length === 0 ? null : <p class="lead">{clauses.join(" · ")}</p>;
}

function Conditions({ run }: { run: number }) {
  const { report } = useView();
  const said = report.runs[run]?.page.prose.filter((one) => one.kind === "condition") ?? [];
  const targets = said.filter((one) => one.targets.length > 0);
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

function Group({
  run,
  kind,
  title,
  note,
}: {
  run: number;
  kind: SaidKind;
  title: string;
  note: string;
}) {
  const { report, selection } = useView();
  const said = (report.runs[run]?.page.prose ?? []).filter(
    (one) => one.kind === kind && selection.isShown(run, one),
  );
  if (said.length === 0) return null;
  return (
    <div class={`said ${kind}`}>
      <h4>
        {title} <span class="count">{kind === "sureness" ? "" : said.length}</span>
        {note !== "" && <small>{note}</small>}
      </h4>
      {byDimension(said).map(([dimension, sentences]) => (
        <div key={dimension} class="of-dimension">
          {dimension !== "" && <h5>{dimension}</h5>}
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

/** A sentence; its subject leads to its charts. */
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
