// The head of the page: the answer, its basis, reasons to doubt it, and what is missing.

import type { ComponentChildren } from "preact";
import type { RunVerdict, Verdict } from "../contract";
import { isSearch } from "../data/model";
import { meaningOf } from "../data/verdicts";
import { percent, typeset } from "../format/units";
import { useView, type View } from "../view";
import { Conditions } from "./Conditions";
import { Fold } from "./Fold";
import { Unfiltered } from "./Unfiltered";
import { refusedOf } from "./Unmeasured";
import { kindsOf, tracesOf } from "./warned";

export function Answer() {
  const view = useView();
  const { report } = view;
  return (
    <>
      <Headline />
      <Unfiltered what="This answer" />
      <p class="subject">
        {report.runs.map(({ page, document }) => (
          <span key={page.name}>
            {report.runs.length > 1 && <b>{page.name}: </b>}
            {document.run.suite} of {document.targets.map((one) => one.label).join(", ")},{" "}
            {document.run.started.slice(0, 16).replace("T", " ")} UTC
            {document.machine.processor?.model != null && `, ${document.machine.processor.model}`}
          </span>
        ))}
      </p>
      <Fold title="Conditions of the measurement" class="conditions-fold" onPaper>
        {() => report.runs.map(({ page }, run) => <Conditions key={page.name} run={run} />)}
      </Fold>
      <div class="cards">
        <Sure />
        <Doubts />
        <Missing />
      </div>
    </>
  );
}

function Headline() {
  const view = useView();
  const { runs, payload } = view.report;
  const { changed } = payload.effects;
  const [first, ...others] =
    changed.length > 0
      ? changed
      : runs.map(({ page, document }) =>
          runs.length > 1 ? `${page.name}, ${document.run.suite}: ${page.answer}` : page.answer,
        );
  const isLong = (first ?? "").length > 130;
  return (
    <>
      <h1 id="summary-title" class={isLong ? "long" : undefined}>
        {typeset(first ?? "")}
      </h1>
      {others.map((text) => (
        <p key={text} class="lead">
          {typeset(text)}
        </p>
      ))}
    </>
  );
}

function Card(props: { title: string; class: string; children: ComponentChildren }) {
  return (
    <div class={`card ${props.class}`}>
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** A link to a section. */
function To({ section, children }: { section: string; children: ComponentChildren }) {
  const { go } = useView();
  return (
    <button type="button" class="link" onClick={() => go({ section })}>
      {children}
    </button>
  );
}

/** The verdicts of all selected comparisons: between runs if there are several, else between
 * targets. */
function verdictsOf({ report, selection }: View): (RunVerdict | Verdict)[] {
  const names = new Set(selection.benchmarks.map((one) => one.name));
  const isShown = (run: number, target: string) =>
    selection.sides.some((side) => side.run === run && side.target === target);
  const { comparison } = report.payload.effects;
  if (comparison != null && comparison.runs.length > 1) {
    const runOf = (name: string) => report.runs.findIndex(({ page }) => page.name === name);
    return comparison.comparisons
      .filter((one) => names.has(one.benchmark) && isShown(runOf(one.second_run), one.second))
      .map((one) => one.verdict);
  }
  return report.runs.flatMap(({ document }, run) =>
    document.comparisons
      .filter((one) => names.has(one.benchmark))
      .filter((one) => isShown(run, one.first) && isShown(run, one.second))
      .map((one) => one.verdict),
  );
}

type Kind = "real" | "between" | "same" | "open" | "few";

function kindOf(verdict: RunVerdict | Verdict): Kind {
  if (verdict === "differs-between-these-runs") return "between";
  if (meaningOf(verdict).isDifferent) return "real";
  if (verdict === "same" || verdict === "same-in-these-runs") return "same";
  return verdict === "not-enough-data" ? "few" : "open";
}

const KINDS: readonly [Kind, string, string][] = [
  ["real", "real difference", "real differences"],
  ["between", "differs between these runs", "differ between these runs"],
  ["same", "shown to be the same", "shown to be the same"],
  ["open", "not told apart", "not told apart"],
  ["few", "with too few values", "with too few values"],
];

function Sure() {
  const view = useView();
  const { report } = view;
  const verdicts = verdictsOf(view);
  const shares = KINDS.map(([kind, one, several]) => {
    const much = verdicts.filter((verdict) => kindOf(verdict) === kind).length;
    return { kind, much, text: much === 1 ? one : several };
  }).filter(({ much }) => much > 0);
  const [run] = report.runs;
  const replicates = report.runs.flatMap(replicatesOf);
  const extent =
    run && isSearch(run)
      ? `${replicates.reduce((sum, much) => sum + much, 0)} probes`
      : `up to ${Math.max(0, ...replicates)} blocks`;
  const level = run ? percent(run.document.run.confidence_level) : "";
  if (report.runs.every(({ page }) => page.network != null)) {
    return (
      <Card title="How sure is this?" class="sure">
        <p>
          Counts over {extent}; every state was proved by what the kernel counted. Where blocks
          differ, <To section="states">the range</To> is shown.
        </p>
      </Card>
    );
  }
  return (
    <Card title="How sure is this?" class="sure">
      {shares.length > 0 && (
        <>
          <div class="share-bar" aria-hidden="true">
            {shares.map(({ kind, much }) => (
              <span key={kind} class={kind} style={{ flexGrow: much }} />
            ))}
          </div>
          <ul class="shares">
            {shares.map(({ kind, text, much }) => (
              <li key={kind} class={kind}>
                <b>{much}</b> {text}
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {level} intervals over {extent}
        {verdicts.length > 1 && "; p is adjusted for the number of comparisons"}.{" "}
        <To section="words">In words</To>
      </p>
    </Card>
  );
}

function replicatesOf({ document }: View["report"]["runs"][number]): number[] {
  return document.cells.map((cell) => cell.replicates);
}

/** The most lines of a card. */
const LINES_MOST = 4;

function Doubts() {
  const view = useView();
  const kinds = kindsOf(view);
  const traces = tracesOf(view).length;
  return (
    <Card title="What speaks against it?" class="doubts-card">
      {traces > 0 && (
        <p>
          <To section="warnings">{traces === 1 ? "A trace" : `${traces} traces`}</To> cannot be
          trusted or read.
        </p>
      )}
      {kinds.length + traces === 0 ? (
        <p>No warnings.</p>
      ) : (
        <ul>
          {kinds.slice(0, LINES_MOST).map(({ kind, meaning, cells }) => (
            <li key={kind} class={`weight-${meaning.weight}`}>
              {meaning.title}
              {cells.length > 0 && <span class="count"> {cellsOf(cells.length)}</span>}
            </li>
          ))}
        </ul>
      )}
      {kinds.length > 0 && (
        <p>
          <To section="warnings">
            {kinds.length > LINES_MOST
              ? `All ${kinds.length} kinds of warnings, and what they mean`
              : "What they mean"}
          </To>
        </p>
      )}
    </Card>
  );
}

export function cellsOf(much: number): string {
  return `${much} ${much === 1 ? "cell" : "cells"}`;
}

function Missing() {
  const view = useView();
  const { runs } = view.report;
  const refused = refusedOf(view);
  const inShort = runs.flatMap(({ page }) =>
    page.left_out.map((text) => (runs.length > 1 ? `${page.name}: ${text}` : text)),
  );
  return (
    <Card title="What was not measured?" class="missing">
      {refused.length + inShort.length === 0 ? (
        <p>Nothing was left out.</p>
      ) : (
        <>
          <Unfiltered what="This list" />
          <ul>
            {inShort.slice(0, LINES_MOST).map((text) => (
              <li key={text}>{typeset(text)}</li>
            ))}
          </ul>
          {refused.length > 0 && (
            <p>
              <To section="unmeasured">One by one, with the reasons</To>
            </p>
          )}
        </>
      )}
    </Card>
  );
}
