// Filters for targets and a dimension, and links to everything that is known about one benchmark,
// which hide nothing. All three are stored in the address.

import { Mark } from "../charts/Mark";
import { DIMENSIONS, dimensionName } from "../data/model";
import { colourOf, useView } from "../view";
import { hasOperations } from "./Distribution";

export function Filters() {
  const { report, selection, route, theme, go } = useView();
  const shown = new Set(selection.sides);
  const toggle = (label: string) => {
    const all = report.sides.map((side) => side.label);
    const on = selection.sides.map((side) => side.label);
    const next = on.includes(label) ? on.filter((it) => it !== label) : [...on, label];
    // Nothing is not a selection: removing the last one brings all back.
    go({ targets: next.length === 0 || next.length === all.length ? [] : next });
  };
  const benchmarks = report.benchmarks.filter(
    ({ key, dimension, curve }) =>
      // Points of curves are chosen by their curve, or individually further down.
      (curve === null || key === route.benchmark) &&
      (route.dimension === null || dimension === route.dimension),
  );
  const curves = report.curves.filter(
    ({ dimension }) => route.dimension === null || dimension === route.dimension,
  );
  // Curves, and what has no single operations, are drawn with their dimension.
  const placeOf = (key: string) => {
    const single = benchmarks.find((one) => one.key === key);
    const own = single ?? curves.find((one) => one.key === key);
    return single && hasOperations(single) ? "distribution" : `dimension-${own?.dimension}`;
  };
  return (
    <div class="filters" role="group" aria-label="What is shown">
      <span class="targets" role="group" aria-label="Targets">
        {report.sides.map((side) => (
          <button
            key={side.label}
            type="button"
            class="chip"
            aria-pressed={shown.has(side)}
            onClick={() => toggle(side.label)}
          >
            <Mark index={side.index} colour={colourOf(theme, side)} />
            {side.label}
          </button>
        ))}
      </span>
      {report.dimensions.length > 1 && (
        <span class="choice">
          <label for="dimension">Dimension</label>
          <select
            id="dimension"
            value={route.dimension ?? ""}
            onChange={({ currentTarget: { value } }) =>
              go({ dimension: value === "" ? null : value, benchmark: null })
            }
          >
            <option value="">all</option>
            {DIMENSIONS.filter(([name]) => report.dimensions.includes(name)).map(([name]) => (
              <option key={name} value={name}>
                {dimensionName(name)}
              </option>
            ))}
          </select>
        </span>
      )}
      <span class="choice">
        <label for="benchmark">Benchmark</label>
        <select
          id="benchmark"
          value={route.benchmark ?? ""}
          onChange={({ currentTarget: { value } }) =>
            go(value === "" ? { benchmark: null } : { benchmark: value, section: placeOf(value) })
          }
        >
          <option value="">choose one</option>
          {benchmarks.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
          {curves.map(({ key, title, axis }) => (
            <option key={key} value={key}>
              {title.endsWith(axis) ? title : `${title}, by ${axis}`}
            </option>
          ))}
        </select>
      </span>
      {(route.targets.length > 0 || route.dimension !== null) && (
        <button type="button" class="all" onClick={() => go({ targets: [], dimension: null })}>
          Show all
        </button>
      )}
    </div>
  );
}
