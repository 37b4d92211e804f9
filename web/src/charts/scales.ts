// Scales: from values to positions on a chart, and where their ticks are.

export type ScaleKind = "linear" | "log2" | "log10";

/** A scale from a domain of values to a range of positions. */
export interface Scale {
  kind: ScaleKind;
  domain: [number, number];
  range: [number, number];
}

/** The position of a value. */
export function place(scale: Scale, value: number): number {
  const [low, high] = scale.domain.map((end) => transformed(scale.kind, end)) as [number, number];
  const [from, to] = scale.range;
  const share = high === low ? 0.5 : (transformed(scale.kind, value) - low) / (high - low);
  return from + share * (to - from);
}

function transformed(kind: ScaleKind, value: number): number {
  if (kind === "linear") return value;
  return kind === "log2" ? Math.log2(value) : Math.log10(value);
}

/** The digits that every tick has room for, and the most that can still be read. */
const [DIGITS_LEAST, DIGITS_MOST] = [2, 7];

/** The values at which ticks are, about `most` at most. For sizes (`isBinary`), those on a linear
 * scale are multiples of a power of 2. */
export function ticks(
  kind: ScaleKind,
  [low, high]: [number, number],
  most = 6,
  isBinary = false,
): number[] {
  if (!(high > low)) return [low];
  if (kind === "linear" && isBinary) {
    return binaryTicks(low, high, most);
  }
  if (kind === "linear") return linearTicks(low, high, most);
  const base = kind === "log2" ? 2 : 10;
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const decades = last - first + 1;
  if (decades < 2) return (base === 10 ? decadeTicks : binaryTicks)(low, high, most);
  const step = Math.max(1, Math.ceil(decades / most));
  const powers: number[] = [];
  for (let exponent = first; exponent <= last; exponent += step) powers.push(base ** exponent);
  return powers.length > 0 ? powers : [low, high];
}

/** Multiples of a power of 2, at least 1: there are no fractions of a byte. */
function binaryTicks(low: number, high: number, most: number): number[] {
  return multiples(low, high, 2 ** Math.max(0, Math.ceil(Math.log2((high - low) / most))));
}

/** Ticks in words, with as many digits as their distance needs: `100 %` next to `100 %` would make
 * a difference look large that is not. */
export function tickTexts(
  at: number[],
  format: (value: number, significant?: number) => string,
): string[] {
  const distances = at.slice(1).map((value, index) => {
    const before = at[index] as number;
    return Math.max(Math.abs(value), Math.abs(before)) / Math.abs(value - before);
  });
  const digits = Math.ceil(Math.log10(Math.max(1, ...distances))) + 1;
  return at.map((value) =>
    digits <= DIGITS_LEAST ? format(value) : format(value, Math.min(DIGITS_MOST, digits)),
  );
}

function linearTicks(low: number, high: number, most: number): number[] {
  const rough = (high - low) / Math.max(1, most);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * magnitude).find((it) => it >= rough) ?? rough;
  return multiples(low, high, step);
}

function multiples(low: number, high: number, step: number): number[] {
  const found: number[] = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1) {
    found.push(Number((index * step).toPrecision(12)));
  }
  return found;
}

/** Within one or two decades: 1, 2 and 5 times powers of ten, or a linear step if that is finer. */
function decadeTicks(low: number, high: number, most: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const factor of [1, 2, 5]) {
      const value = factor * 10 ** power;
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  }
  return found.length >= 3 ? found : linearTicks(low, high, Math.max(4, most));
}

/** The smallest domain with all values that can be on a scale of this kind. */
export function domainOf(kind: ScaleKind, values: Iterable<number>): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isFinite(value) || (kind !== "linear" && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return kind === "linear" ? [0, 1] : [1, 10];
  return [low, high];
}

/** A domain with room at both ends, so that what is at an end is fully visible. */
export function padded(
  kind: ScaleKind,
  [low, high]: [number, number],
  share = 0.05,
): [number, number] {
  if (kind === "linear") {
    const room = (high - low || Math.abs(high) || 1) * share;
    return [low - room, high + room];
  }
  const factor = high > low ? (high / low) ** share : 1.1;
  return [low / factor, high * factor];
}
