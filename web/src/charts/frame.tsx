// The frame of every chart: its title, what it says in a sentence, the table behind it, and the
// buttons that save it as PNG, SVG or CSV.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { save } from "../data/save";

/** The figures behind a chart. */
export interface Table {
  head: string[];
  rows: (string | number)[][];
}

/** How a chart is turned into a file. */
export interface Picture {
  png(): Promise<Blob>;
  svg(): string;
}

export interface ChartFrameProps {
  title: string;
  /** One sentence for those who do not see the chart: what it shows, and its main figures. */
  summary: string;
  /** The name of saved files, without their ending. */
  file: string;
  table: () => Table;
  /** Asked when something is to be saved: the chart need not exist before. */
  picture?: () => Picture | null;
  /** Notes below the chart: warnings that apply, how to read it. */
  notes?: ComponentChildren;
  children: ComponentChildren;
}

/** Rows of a table that are shown; the file has all. */
const ROWS_SHOWN = 500;

export function ChartFrame(props: ChartFrameProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption class="chart-head">
        <h4 id={id}>{props.title}</h4>
        <span class="chart-tools">
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide table" : "Table"}
          </button>
          {props.picture && (
            <>
              <button type="button" onClick={() => void savePng(props)}>
                PNG
              </button>
              <button type="button" onClick={() => saveSvg(props)}>
                SVG
              </button>
            </>
          )}
        </span>
      </figcaption>
      <p class="chart-summary">{props.summary}</p>
      {props.children}
      {props.notes && <div class="chart-notes">{props.notes}</div>}
      {open && <ChartTable {...props} />}
    </figure>
  );
}

function ChartTable({ title, file, table }: ChartFrameProps) {
  const { head, rows } = table();
  const hidden = rows.length - ROWS_SHOWN;
  return (
    <section class="chart-table" tabIndex={0} aria-label={`Table of ${title}`}>
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_SHOWN).map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={head[column]} class={typeof cell === "number" ? "number" : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && <p>{hidden} more rows are in the CSV file.</p>}
      <button type="button" onClick={() => save(`${file}.csv`, "text/csv", csvOf({ head, rows }))}>
        Save as CSV
      </button>
    </section>
  );
}

async function savePng(props: ChartFrameProps) {
  const picture = props.picture?.();
  if (picture) save(`${props.file}.png`, "image/png", await picture.png());
}

function saveSvg(props: ChartFrameProps) {
  const picture = props.picture?.();
  if (picture) save(`${props.file}.svg`, "image/svg+xml", picture.svg());
}

/** A table as RFC 4180 has it. */
export function csvOf({ head, rows }: Table): string {
  const field = (value: string | number) => {
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\n`).join("");
}
