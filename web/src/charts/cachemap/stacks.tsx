// What is known about one byte: its address, what is there, and every stack that touched it.

import { useState } from "preact/hooks";
import { count } from "../../format/units";
import { addressOf, framesOf, nameOf, stacksOf, timesOf } from "./figures";
import type { Byte, CachemapData } from "./layout";

/** Stacks to show until more are asked for. */
const STACKS_SHOWN = 20;

interface ByteStacksProps {
  map: CachemapData;
  byte: Byte;
  onClose(): void;
}

export function ByteStacks({ map, byte, onClose }: ByteStacksProps) {
  const [all, setAll] = useState(false);
  const stacks = stacksOf(map, byte);
  const shown = all ? stacks : stacks.slice(0, STACKS_SHOWN);
  const times = timesOf(map, byte);
  const verb = map.of === "instructions" ? "execution" : "access";
  const plural = times === 1 ? verb : `${verb}${verb.endsWith("s") ? "es" : "s"}`;
  return (
    <section class="chart-detail" aria-label="Stacks that touched the byte">
      <p>
        <strong>
          <code>{addressOf(map, byte)}</code>
        </strong>
        , {nameOf(map, byte.line)}: {count(times)} {plural} from {count(stacks.length)}{" "}
        {stacks.length === 1 ? "stack" : "stacks"}, the innermost frame first.{" "}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
      <ol>
        {shown.map((stack) => (
          <li key={stack}>
            <code>{framesOf(map, stack).join(" ← ")}</code>
          </li>
        ))}
      </ol>
      {stacks.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {count(stacks.length)} stacks
        </button>
      )}
    </section>
  );
}
