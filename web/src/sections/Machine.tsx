// The machine, the clock and the targets. What differs between targets or machines is marked.

import { Scrolling } from "../charts/scrolling";
import { useView } from "../view";
import { facts, isSame, type Row } from "./facts";

export function MachineSection() {
  const { report, selection } = useView();
  const runs = report.runs.map(({ page }) => page.name);
  const machine = facts.machine(report.runs.map(({ document }) => document));
  const targets = facts.targets(selection.sides.map((side) => side.record));
  return (
    <>
      <FactTable
        caption="The machine"
        columns={report.runs.length > 1 ? runs : [""]}
        rows={machine}
      />
      <FactTable
        caption="Targets"
        columns={selection.sides.map((side) => side.label)}
        rows={targets}
      />
    </>
  );
}

function FactTable({
  caption,
  columns,
  rows,
}: {
  caption: string;
  columns: string[];
  rows: Row[];
}) {
  const several = columns.length > 1;
  return (
    <Scrolling label={caption}>
      <table class="facts">
        <caption>
          {caption}
          {several && <small> ● marks what differs</small>}
        </caption>
        {several && (
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">what</span>
              </th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row) => {
            const differs = several && !isSame(row);
            return (
              <tr key={row.name} class={differs ? "differs" : undefined}>
                <th scope="row">
                  {row.name}
                  {differs && <span title="differs"> ●</span>}
                </th>
                {row.values.map((value, column) => (
                  <td key={columns[column]}>{value}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scrolling>
  );
}
