// The frame of every chart: its title, its message in a sentence, the table behind it, and buttons
// to save it as PNG, SVG or CSV.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { save } from "../data/save";
import { digits, figure } from "../format/units";

/** A figure, written with its unit on screen and with all its digits in files. */
export interface Measured {
  value: number;
  said: string;
}

export type TableCell = string | number | Measured;

/** The figures behind a chart. */
export interface Table {
  head: string[];
  rows: TableCell[][];
}

/** A figure for a table; empty if there is none. */
export function measured(
  value: number | null | undefined,
  said: (value: number, significant?: number) => string,
): TableCell {
  return value == null ? "" : { value, said: said(value, DIGITS) };
}

/** Significant digits of figures in tables. */
const DIGITS = 4;

/** A figure of a metric for a table. */
export function ofUnit(unit: string, value: number | null | undefined): TableCell {
  return measured(value, (it, significant) => figure(unit, it, significant));
}

/** The text of a cell on screen. */
export function cellText(cell: TableCell): string {
  if (typeof cell === "string") return cell;
  if (typeof cell === "object") return cell.said;
  return Number.isInteger(cell) ? grouped(cell) : digits(cell, DIGITS);
}

function grouped(value: number): string {
  return Math.abs(value) < 10_000 ? String(value) : value.toLocaleString("en");
}

/** How to turn a chart into a file. */
export interface Picture {
  png(): Promise<Blob>;
  svg(): string;
}

export interface ChartFrameProps {
  title: string;
  /** One sentence for people who cannot see the chart: what it shows, and its main figures. */
  summary: string;
  /** The name of saved files, without extension. */
  file: string;
  table: () => Table;
  /** Called when something is to be saved; the chart need not exist before that. */
  picture?: () => Picture | null;
  /** Notes below the chart: relevant warnings, how to read it. */
  notes?: ComponentChildren;
  children: ComponentChildren;
}

/** Rows of a table to show; the file contains all. */
const ROWS_SHOWN = 500;

export function ChartFrame(props: ChartFrameProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption class="chart-head">
        <h3 id={id}>{props.title}</h3>
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
                <td key={head[column]} class={typeof cell === "string" ? undefined : "number"}>
                  {cellText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">Rounded; the file has all digits, in the unit that the document names.</p>
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

/** A table in CSV, as defined by RFC 4180. */
export function csvOf({ head, rows }: Table): string {
  const field = (cell: TableCell) => {
    const text = String(typeof cell === "object" ? cell.value : cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\n`).join("");
}
