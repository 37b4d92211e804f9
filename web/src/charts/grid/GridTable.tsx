// A grid of ratios on screen, as a table.

import type { ComponentChildren } from "preact";
import { Scrolling } from "../scrolling";
import type { GridCell, GridModel } from "./grid-svg";

export interface GridTableProps {
  model: GridModel;
  /** What is in the top left corner. */
  corner: ComponentChildren;
  /** The name of a row, if it is more than text. */
  nameOf?: (row: number) => ComponentChildren;
  /** Whether each cell is a single line. */
  isFlat?: boolean;
}

export function GridTable({ model, corner, nameOf, isFlat = false }: GridTableProps) {
  return (
    <Scrolling label={model.title}>
      <table class={isFlat ? "map flat" : "map"}>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {model.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {model.rows.map(({ name, cells }, row) => (
            <tr key={name}>
              <th scope="row">{nameOf ? nameOf(row) : name}</th>
              {cells.map((cell, column) => (
                <Place key={model.columns[column]} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function Place({ cell }: { cell: GridCell | null }) {
  if (cell === null) return <td class="empty">–</td>;
  const [first, ...others] = cell.lines;
  return (
    <td class={classOf(cell)}>
      <strong>{first}</strong>
      {cell.isBest && <small>least</small>}
      {others.map((line) => (
        <small key={line}>{line}</small>
      ))}
    </td>
  );
}

function classOf({ isBest, isPlain, depth, isDear, isAlike }: GridCell): string {
  if (isBest) return "is-best";
  if (isPlain) return "is-plain";
  return `depth-${depth} ${isDear ? "dear" : "cheap"}${isAlike ? " alike" : ""}`;
}
