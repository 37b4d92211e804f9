// Touched cache lines, as cachemaps, and where work was done, as flame graphs: for one operation of
// one target, or of two targets side by side.

import { useMemo } from "preact/hooks";
import { Cachemap } from "../charts/cachemap/Cachemap";
import { FlameGraph } from "../charts/flame/FlameGraph";
import type { Cachemap as CachemapRefs, FlameGraph as GraphRefs } from "../contract";
import {
  cachemapOf,
  doneIn,
  flamesOf,
  type Shown,
  type Subject,
  shownOf,
  stacksOf,
  subjectsOf,
  totalExplained,
} from "../data/footprint";
import type { FootprintRoute } from "../data/route";
import { useView } from "../view";

const KINDS = ["instructions", "data"] as const;

export function Footprint() {
  const { report, selection, route } = useView();
  const subjects = useMemo(() => subjectsOf(report, selection), [report, selection]);
  const { compared } = report.payload;
  const shown = shownOf(subjects, route.footprint, compared);
  if (shown === null) return <p class="note">None of the targets shown was traced.</p>;
  const sides = shown.against === null ? [shown.subject] : [shown.subject, shown.against];
  // On a page of comparisons, the earlier one comes first.
  if (compared) sides.reverse();
  const { operation, frames } = shown;
  const graphs = sides.flatMap((side) => side.operations.get(operation)?.graphs.get(frames) ?? []);
  const maps = KINDS.flatMap((of) =>
    sides.flatMap((side) => side.operations.get(operation)?.cachemaps.get(of) ?? []),
  );
  return (
    <>
      {!compared && <Choices shown={shown} />}
      {maps.some((map) => map.traced.repetitions > 1) && (
        <p class="note">
          Maps and graphs show one traced repetition: the one whose instructions, lines of
          instructions and lines of data are nearest to their medians.
        </p>
      )}
      <div class="pair">
        {maps.map((map) => (
          <OneCachemap key={`${map.of} ${map.title}`} map={map} />
        ))}
      </div>
      {!compared && graphs.length > 0 && <WeightChoices shown={shown} graphs={graphs} />}
      {!compared && shown.weight.endsWith("_misses") && <SimulatedCaches graphs={graphs} />}
      <div class="pair">
        {graphs.map((graph) => (
          <OneFlameGraph key={`${graph.title} ${frames}`} graphs={[graph]} weight={shown.weight} />
        ))}
      </div>
      {!compared && graphs.length === 2 && (
        <OneFlameGraph key={`${frames} compared`} graphs={graphs} weight={shown.weight} />
      )}
    </>
  );
}

export function Choices({ shown }: { shown: Shown }) {
  const { subject, operation, against, subjects, difference } = shown;
  const others = subjects.filter((one) => one !== subject && one.operations.has(operation));
  const labels = (all: Subject[]): Option[] => all.map(({ label }) => [label, label]);
  return (
    <p class="choices">
      {(difference === null || subjects.length > 1) && (
        <Choice of="traced" name="Target" value={subject.label} options={labels(subjects)} />
      )}
      <Choice
        of="operation"
        name="Operation"
        value={operation}
        options={[...subject.operations.keys()].map((name) => [name, name])}
      />
      {difference === null && others.length > 0 && (
        <Choice
          of="against"
          name="Compared with"
          value={against?.label ?? ""}
          options={[["", "nothing"], ...labels(others)]}
        />
      )}
    </p>
  );
}

export function WeightChoices({ shown, graphs }: { shown: Shown; graphs: GraphRefs[] }) {
  const weights = graphs[0]?.weights ?? [];
  const kinds = [...(shown.subject.operations.get(shown.operation)?.graphs.keys() ?? [])];
  return (
    <p class="choices">
      <Choice
        of="weight"
        name="Widths are"
        value={shown.weight}
        options={weights.map(({ name, unit }) => [name, unit])}
      />
      <Choice
        of="frames"
        name="Frames are"
        value={shown.frames}
        options={kinds.map((kind) => [kind, kind])}
      />
    </p>
  );
}

/** Which caches the misses are for: a sentence per run. */
export function SimulatedCaches({ graphs }: { graphs: GraphRefs[] }) {
  const { report } = useView();
  const { caches } = report.payload.compared ?? {};
  const runs = [...new Set(graphs.map((graph) => graph.traced.run))];
  const said = runs.flatMap(
    (run) => report.runs[run]?.page.prose.filter((one) => one.subject === "simulated caches") ?? [],
  );
  const texts = [...new Set([...said.map((one) => one.text), ...(caches ? [caches] : [])])];
  return (
    <>
      {texts.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
    </>
  );
}

/** A value, and what to call it. */
type Option = [string, string];

interface ChoiceProps {
  of: keyof FootprintRoute;
  name: string;
  value: string;
  options: Option[];
}

/** A choice that is stored in the address. */
function Choice({ of, name, value, options }: ChoiceProps) {
  const { route, go } = useView();
  const choose = (chosen: string) =>
    go({ footprint: { ...route.footprint, [of]: chosen === "" ? null : chosen } });
  return (
    <label class="inline">
      {name}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([option, label]) => (
          <option key={option} value={option}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

function OneCachemap({ map }: { map: CachemapRefs }) {
  const { report, theme } = useView();
  const decoded = useMemo(() => cachemapOf(report, map), [report, map]);
  const { target, operation } = map.traced;
  return (
    <Cachemap map={decoded} file={`cachemap-${target}-${operation}-${map.of}`} theme={theme} />
  );
}

/** One graph, or a comparison of the first with the second. */
export function OneFlameGraph({ graphs, weight }: { graphs: GraphRefs[]; weight: string }) {
  const { report, theme } = useView();
  const [now, before] = graphs as [GraphRefs, GraphRefs?];
  const flames = useMemo(() => {
    const done = (graph: GraphRefs) => {
      const found = graph.weights.find(({ name }) => name === weight);
      return found && doneIn(report, graph, found);
    };
    const [first, second] = [done(now), before && done(before)];
    if (first === undefined) return null;
    return flamesOf(report.payload.stacks.names, stacksOf(report), first, second);
  }, [report, now, before, weight]);
  if (flames === null) return null;
  const unit = now.weights.find(({ name }) => name === weight)?.unit ?? "";
  const { target, operation } = now.traced;
  const sides = before && { now: target, before: before.traced.target };
  const compared = sides && `${operation}: what changes from ${sides.before} to ${sides.now}`;
  return (
    <FlameGraph
      title={`${compared ?? now.title}: ${unit}`}
      sides={sides}
      unit={unit}
      explained={totalExplained(weight)}
      file={`flame-${target}-${operation}-${weight}`}
      theme={theme}
      {...flames}
    />
  );
}
