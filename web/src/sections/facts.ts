// What is known about machines and targets, as rows of text with one value per machine or target.

import type { Ageing, Cache, Document, TargetRecord } from "../contract";
import { bytes, count, digits, nanoseconds } from "../format/units";

export interface Row {
  name: string;
  values: string[];
}

/** Whether all values of a row are the same. */
export function isSame({ values }: Row): boolean {
  return values.every((value) => value === values[0]);
}

function rows<T>(things: T[], readers: [string, (thing: T) => string | null | undefined][]): Row[] {
  return readers
    .map(([name, read]) => ({ name, values: things.map((thing) => read(thing) ?? "–") }))
    .filter((row) => row.values.some((value) => value !== "–" && value !== ""));
}

function machine(documents: Document[]): Row[] {
  return rows(documents, [
    ["Started", ({ run }) => run.started],
    ["System", ({ machine }) => machine.os_release?.pretty_name],
    ["Kernel", ({ machine }) => machine.kernel?.release],
    ["Processor", ({ machine }) => machine.processor?.model],
    [
      "Usable processors",
      ({ machine }) => sizeOf(machine.processor?.allowed) ?? countOf(machine.processor?.threads),
    ],
    ["Caches", ({ machine }) => machine.caches?.map(cacheName).join(", ")],
    ["Memory", ({ machine }) => bytesOf(machine.memory?.total_bytes)],
    ["Hypervisor", ({ machine }) => machine.hypervisor],
    ["Frequency governor", ({ machine }) => machine.processor?.governors?.join(", ")],
    [
      "Clock",
      ({ clock }) =>
        [
          clock.source,
          `${digits(clock.frequency_hz / 1e9)} GHz`,
          `precision ${nanoseconds(clock.precision_ns)}`,
          `one reading ${nanoseconds(clock.cost_ns)}`,
        ].join(", "),
    ],
    ["Cheapest system call", ({ clock }) => nanoseconds(clock.system_call_ns)],
    ["Kernel clock source", ({ machine }) => machine.clock_source?.current],
    ["Swappiness", ({ machine }) => countOf(machine.swappiness)],
    ["vfs_cache_pressure", ({ machine }) => countOf(machine.vfs_cache_pressure)],
    ["Mitigations", ({ machine }) => mitigations(machine.mitigations)],
  ]);
}

/** The kernel's mitigations of vulnerabilities of the processor, without those that do not affect
 * it. */
function mitigations(all: Record<string, string> | undefined): string {
  const own = Object.entries(all ?? {}).filter(([, state]) => state !== "Not affected");
  return own.map(([name, state]) => `${name}: ${state}`).join("; ");
}

function targets(records: TargetRecord[]): Row[] {
  return rows(records, [
    ["As specified", (one) => one.specification],
    ["File system", (one) => one.file_system],
    ["Size", (one) => bytes(one.size_bytes)],
    ["Made with", (one) => one.mkfs],
    ["mkfs version", (one) => one.mkfs_version],
    ["Mount options", (one) => one.mount_options],
    ["Device", (one) => one.device?.name],
    ["Loop device with direct I/O", (one) => yesOrNo(one.loop_direct_io)],
    ["Maximum read-ahead", (one) => bytesOf(one.read_ahead_bytes)],
    ["Memory limit", (one) => bytesOf(one.conditions.memory_bytes)],
    ["Reads limited to", (one) => perSecond(one.conditions.read_bps, one.conditions.read_iops)],
    ["Writes limited to", (one) => perSecond(one.conditions.write_bps, one.conditions.write_iops)],
    ["Read-ahead set to", (one) => bytesOf(one.conditions.read_ahead_bytes)],
    ["Each device request takes", (one) => nanosecondsOf(one.conditions.delay_ns)],
    ["Cache of the device", (one) => bytesOf(one.conditions.delay_cache_bytes)],
    ["Filled to", (one) => (one.filled_percent == null ? null : `${one.filled_percent} %`)],
    ["Aged", ({ aged }) => (aged == null ? null : ageing(aged))],
    ["Made for this run", (one) => yesOrNo(one.scratch)],
  ]);
}

function ageing({ rounds, fill_percent, left_percent }: Ageing): string {
  return `${count(rounds)} rounds at ${fill_percent} % full, left ${left_percent} % full`;
}

export const facts = { machine, targets };

function cacheName({ level, kind, size_bytes, instances }: Cache): string {
  const letter = kind === "data" ? "d" : kind === "instruction" ? "i" : "";
  const times = instances > 1 ? `${instances} × ` : "";
  return `L${level}${letter} ${times}${size_bytes == null ? "?" : bytes(size_bytes)}`;
}

function bytesOf(value: number | null | undefined): string | null {
  return value == null ? null : bytes(value);
}

function countOf(value: number | null | undefined): string | null {
  return value == null ? null : count(value);
}

function sizeOf(list: unknown[] | undefined): string | null {
  return list === undefined || list.length === 0 ? null : count(list.length);
}

function yesOrNo(value: boolean | null | undefined): string | null {
  return value == null ? null : value ? "yes" : "no";
}

function nanosecondsOf(value: number | null | undefined): string | null {
  return value == null ? null : nanoseconds(value);
}

function perSecond(bps: number | null | undefined, iops: number | null | undefined) {
  const limits = [
    bps == null ? [] : `${bytes(bps)}/s`,
    iops == null ? [] : `${count(iops)} operations/s`,
  ].flat();
  return limits.length === 0 ? null : limits.join(", ");
}
