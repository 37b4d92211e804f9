// A network file system in every state of its caches, and the calls that each makes to the server.

import { Scrolling } from "../charts/scrolling";
import type {
  Counted,
  NetworkBenchmark,
  NetworkDocument,
  NetworkFigures,
  StateCounts,
} from "../contract";
import { bytes, count, digits, figure, typeset } from "../format/units";
import { useView, type View } from "../view";
import { Unfiltered } from "./Unfiltered";

interface Measured {
  name: string;
  network: NetworkDocument;
}

function measuredOf({ report }: View): Measured[] {
  return report.payload.runs.flatMap(({ name, network }) => (network ? [{ name, network }] : []));
}

export const hasNetwork = (view: View): boolean => measuredOf(view).length > 0;

export function Network() {
  const runs = measuredOf(useView());
  return (
    <>
      <Unfiltered what="This section" />
      {runs.map(({ name, network }) => (
        <div key={name}>
          {runs.length > 1 && <h3>{name}</h3>}
          <ul class="warnings">
            {network.answers.slice(runs.length > 1 ? 0 : 1).map((answer) => (
              <li key={answer}>{typeset(answer)}</li>
            ))}
          </ul>
          {network.benchmarks.map((benchmark) => (
            <OneBenchmark key={benchmark.name} {...benchmark} />
          ))}
          <p class="note">{network.notes}</p>
        </div>
      ))}
    </>
  );
}

/** The number of operations with their own colour; all others share one. */
const COLOURED = 5;

/** The operation that reads content has the same colour everywhere, and comes first. */
const READ = "READ";

function OneBenchmark({ name, title, subject, states }: NetworkBenchmark) {
  const { theme } = useView();
  const most = Math.max(1, ...states.map(({ figures }) => figures?.rpcs.median ?? 0));
  const sums = new Map<string, number>();
  for (const { figures } of states) {
    for (const one of figures?.by_operation ?? []) {
      sums.set(one.operation, (sums.get(one.operation) ?? 0) + one.count);
    }
  }
  const rank = ([own, sum]: [string, number]) => (own === READ ? Number.MAX_VALUE : sum);
  const operations = [...sums].sort((one, other) => rank(other) - rank(one)).map(([own]) => own);
  const named = operations.slice(0, COLOURED);
  // The first colour is reserved for reading content.
  const first = named[0] === READ ? 0 : 1;
  const colours = new Map(
    named.map((own, place) => [own, theme.categories[place + first] ?? theme.muted]),
  );
  return (
    <>
      <h3 id={`states-${name}`} class="states-title">
        {title} <span class="note">{subject}</span>
      </h3>
      <ul class="legend calls-legend">
        {named.map((own) => (
          <li key={own}>
            <i style={{ background: colours.get(own) }} />
            {own}
          </li>
        ))}
        {operations.length > COLOURED && (
          <li>
            <i style={{ background: theme.muted }} />
            others
          </li>
        )}
      </ul>
      <Scrolling label={title}>
        <table class="figures states">
          <thead>
            <tr>
              <th>State</th>
              <th class="calls-head">Calls to the server, by operation</th>
              <th>Calls</th>
              <th>READs</th>
              <th>From server</th>
              <th>Cache reads</th>
              <th>Cache writes</th>
              <th>Time</th>
            </tr>
          </thead>
          <tbody>
            {states.map((state) => (
              <Row key={state.target} {...state} {...{ most, colours, operations }} />
            ))}
          </tbody>
        </table>
      </Scrolling>
      {states
        .filter(({ culled }) => culled != null)
        .map(({ target, culled }) => (
          <p key={target} class="note">
            {target}: {typeset(culled ?? "")}
          </p>
        ))}
    </>
  );
}

/** How the calls of a benchmark are drawn. */
interface Drawn {
  /** The largest number of calls in any state. */
  most: number;
  colours: Map<string, string>;
  /** In the order of the legend. */
  operations: string[];
}

function Row(props: StateCounts & Drawn) {
  const { target, figures, most, colours, operations } = props;
  if (figures == null) {
    return (
      <tr>
        <th scope="row">{target}</th>
        <td colSpan={7}>not measured</td>
      </tr>
    );
  }
  const { rpcs, reads, server_bytes, cache_reads, cache_writes } = figures;
  return (
    <tr>
      <th scope="row">{target}</th>
      <td class="calls-cell">
        <Calls figures={figures} {...{ most, colours, operations }} />
      </td>
      {[rpcs, reads].map((one, place) => (
        <Count key={place === 0 ? "rpcs" : "reads"} one={one} say={count} />
      ))}
      <Count one={server_bytes} say={bytes} />
      <Count one={cache_reads} say={count} />
      <Count one={cache_writes} say={count} />
      <td class="number">
        {figure("ns", figures.time_ns.median)}
        {figures.is_time_of_link && <span class="note"> link</span>}
      </td>
    </tr>
  );
}

function Count({ one, say }: { one: Counted; say: (value: number) => string }) {
  return (
    <td class="number">
      {say(one.median)}
      {one.least < one.most && (
        <span class="note">
          {" "}
          [{say(one.least)}, {say(one.most)}]
        </span>
      )}
    </td>
  );
}

function Calls({ figures, most, colours, operations }: Drawn & { figures: NetworkFigures }) {
  const { theme } = useView();
  const counts = new Map(figures.by_operation.map((one) => [one.operation, one.count]));
  const said = figures.by_operation.map((one) => `${one.operation} ${digits(one.count, 6)}`);
  return (
    <div class="calls" title={said.join(", ")} role="img" aria-label={said.join(", ") || "none"}>
      {operations.map((operation) => (
        <span
          key={operation}
          style={{
            width: `${(100 * (counts.get(operation) ?? 0)) / most}%`,
            background: colours.get(operation) ?? theme.muted,
          }}
        />
      ))}
    </div>
  );
}
