// Reasons to doubt figures: all in one section, by kind, with what each kind means for the reader;
// and beside the charts that they are about.

import { Scrolling } from "../charts/scrolling";
import { WEIGHTS } from "../data/meanings";
import type { CellView } from "../data/model";
import { typeset } from "../format/units";
import { useView } from "../view";
import { cellsOf } from "./Answer";
import { Fold } from "./Fold";
import { Unfiltered } from "./Unfiltered";
import { type Found, foundIn, groupedBy, type Kind, kindsOf, tracesOf } from "./warned";

export function Warnings() {
  const view = useView();
  const kinds = kindsOf(view);
  const caveats = [
    ...tracesOf(view),
    ...view.selection.sides.flatMap(({ label, record }) =>
      record.condition_caveats.map((text) => `${label}: ${text}`),
    ),
  ];
  if (kinds.length + caveats.length === 0) return <p>None.</p>;
  return (
    <>
      <Unfiltered what="What is said without a number of cells" />
      {caveats.length > 0 && (
        <ul class="warnings">
          {caveats.map((text) => (
            <li key={text}>{typeset(text)}</li>
          ))}
        </ul>
      )}
      {WEIGHTS.map(([weight, title]) => {
        const own = kinds.filter(({ meaning }) => meaning.weight === weight);
        return (
          own.length > 0 && (
            <div key={weight} class={`warned weight-${weight}`}>
              <h3>{title}</h3>
              {own.map((kind) => (
                <OneKind key={kind.kind} {...kind} />
              ))}
            </div>
          )
        );
      })}
    </>
  );
}

function OneKind({ meaning, found, cells }: Kind) {
  const { report } = useView();
  const all = report.benchmarks.reduce((sum, one) => sum + one.cells.length, 0);
  const texts = [...new Set(found.map(({ warning }) => warning.message))];
  const [only] = texts;
  return (
    <Fold
      class="warned-kind"
      title={
        <>
          <b>{meaning.title}</b>
          {cells.length > 0 && (
            <span class="count"> {cells.length === all ? "all cells" : cellsOf(cells.length)}</span>
          )}
          <span class="means">{meaning.means}</span>
        </>
      }
    >
      {() =>
        cells.length === 0 || (texts.length === 1 && cells.length === all) ? (
          <ul class="warnings">
            {(texts.length === 1 ? [only ?? ""] : texts).map((text) => (
              <li key={text}>{typeset(text)}</li>
            ))}
          </ul>
        ) : (
          <WarningTable found={found} title={meaning.title} />
        )
      }
    </Fold>
  );
}

/** The warnings of these cells in a line, which can be unfolded. */
export function CellWarnings({ cells }: { cells: CellView[] }) {
  const { report } = useView();
  const found = foundIn(cells);
  if (found.length === 0) return null;
  const kinds = groupedBy(found, report.payload.doubts);
  return (
    <Fold
      class="doubts"
      title={
        <>
          <span aria-hidden="true">⚠</span>{" "}
          {kinds
            .map(({ meaning, cells: own }) => `${meaning.title} (${cellsOf(own.length)})`)
            .join("; ")}
        </>
      }
    >
      {() => (
        <>
          <ul class="warnings">
            {kinds.map(({ kind, meaning }) => (
              <li key={kind}>
                <b>{meaning.title}.</b> {meaning.means}
              </li>
            ))}
          </ul>
          <WarningTable found={kinds.flatMap((kind) => kind.found)} title="Warnings" />
        </>
      )}
    </Fold>
  );
}

function WarningTable({ found, title }: { found: Found[]; title: string }) {
  return (
    <Scrolling label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">Benchmark</th>
            <th scope="col">Warning</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ cell, warning }) => (
            <tr
              key={`${cell?.side.label} ${cell?.report.suite}/${cell?.report.benchmark} ${warning.kind}`}
            >
              <td>{cell?.side.label ?? "all"}</td>
              <td>{cell?.report.title ?? "all"}</td>
              <td>{typeset(warning.message)}</td>
              <td>{warning.source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
