// Numbers with units, as people write them. Times and rates use powers of 1000, sizes and
// bandwidths powers of 1024, with the corresponding names (KiB, never KB).

const TIMES = ["ns", "µs", "ms", "s"] as const;
const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const COUNTS = ["", "k", "M", "G", "T"] as const;

/** A number in the largest unit in which it is 1 or more. */
export interface Scaled {
  value: number;
  unit: string;
  /** What the number was divided by. */
  divisor: number;
}

function stepped(value: number, base: number, units: readonly string[]): Scaled {
  let divisor = 1;
  let step = 0;
  // What would be written as 1000 of a unit is written as 1 of the next.
  while (step < units.length - 1 && Math.abs(value / divisor) >= base * 0.9995) {
    divisor *= base;
    step += 1;
  }
  return { value: value / divisor, unit: units[step] ?? "", divisor };
}

/** Scales a value of a metric. Units have the names that they have in the document. */
export function scaled(unit: string, value: number): Scaled {
  switch (unit) {
    case "ns":
      return stepped(value, 1000, TIMES);
    case "s":
      return Math.abs(value) < 1 && value !== 0
        ? scaled("ns", value * 1e9)
        : { value, unit: "s", divisor: 1 };
    case "bytes":
      return stepped(value, 1024, SIZES);
    case "bytes/s": {
      const size = stepped(value, 1024, SIZES);
      return { ...size, unit: `${size.unit}/s` };
    }
    case "operations/s": {
      const count = stepped(value, 1000, COUNTS);
      return { ...count, unit: `${count.unit} op/s`.trim() };
    }
    case "count":
    case "":
      return stepped(value, 1000, COUNTS);
    case "x":
      return { value, unit: "×", divisor: 1 };
    case "percent":
      return { value, unit: "%", divisor: 1 };
    default:
      return { value, unit, divisor: 1 };
  }
}

/** Three significant digits, without an exponent where people would not use one. */
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude >= 15 || magnitude < -5) return value.toExponential(significant - 1);
  const decimals = Math.max(0, significant - 1 - magnitude);
  const rounded = Number(value.toFixed(decimals));
  // Rounding may lead to the next power of ten, which needs one decimal less.
  const again = Math.floor(Math.log10(Math.abs(rounded)));
  return grouped(rounded.toFixed(Math.max(0, significant - 1 - again)));
}

/** Commas between the thousands of the integer part. */
function grouped(text: string): string {
  const [whole = "", rest] = text.split(".");
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? separated : `${separated}.${rest}`;
}

/** Units of things that are counted individually: written with all digits, and without
 * fractions. */
const COUNTED = new Set(["lines", "instructions", "accesses"]);

function whole(value: number): string {
  return Number.isFinite(value) ? grouped(String(Math.round(value))) : digits(value);
}

/** A value with its unit: `6.10 µs`, `512 KiB`, `1.02 M op/s`, `4.30×`. */
export function figure(unit: string, value: number, significant = 3): string {
  if (COUNTED.has(unit)) return joined(whole(value), unit);
  const { value: number, unit: name } = scaled(unit, value);
  return joined(digits(number, significant), name);
}

/** Units of times and rates. */
const OF_SPEED: ReadonlySet<string> = new Set(["ns", "operations/s", "bytes/s"]);
/** An interval that is wider than this many times its figure makes the figure meaningless. */
const WIDTH_MOST = 10;

/** What to show instead of a figure whose interval is too wide. */
export const NO_FIGURE = "too little data";

/** A value and its interval; the second is empty if there is none. */
export function figureWithin(
  unit: string,
  value: number,
  ends: { low: number; high: number } | null | undefined,
): [string, string] {
  if (ends == null) return [figure(unit, value), ""];
  const isTooWide =
    OF_SPEED.has(unit) && ends.low >= 0 && value > 0 && ends.high - ends.low > WIDTH_MOST * value;
  if (isTooWide) return [NO_FIGURE, ""];
  return [figure(unit, value), interval(unit, value, ends.low, ends.high)];
}

/** An interval in the unit of its value, in brackets: `[6.0, 6.2]`. */
export function interval(unit: string, value: number, low: number, high: number): string {
  if (COUNTED.has(unit)) return `[${whole(low)}, ${whole(high)}]`;
  const { unit: name, divisor } = scaled(unit, value);
  const isOfNanoseconds = unit === "s" && (name !== "s" || divisor !== 1);
  const factor = (isOfNanoseconds ? 1e9 : 1) / divisor;
  return `[${alike(low * factor, high * factor)}, ${alike(high * factor, low * factor)}]`;
}

/** One end of an interval, with at most one decimal more than the end that is farther from 0. */
function alike(value: number, other: number): string {
  const own = digits(value);
  if (Math.abs(value) >= Math.abs(other) || !Number.isFinite(other)) return own;
  const decimals = (digits(other).split(".")[1]?.length ?? 0) + 1;
  return (own.split(".")[1]?.length ?? 0) > decimals ? grouped(value.toFixed(decimals)) : own;
}

/** A size, exact if it is a whole number of its unit. */
export function bytes(value: number): string {
  const { value: number, unit } = stepped(value, 1024, SIZES);
  return joined(Number.isInteger(number) ? grouped(String(number)) : digits(number), unit);
}

/** A time in nanoseconds. */
export function nanoseconds(value: number): string {
  return figure("ns", value);
}

/** A number of things. */
export function count(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e5
    ? grouped(String(value))
    : figure("count", value);
}

/** How a number of things changed, with its sign: `+45`, `−45`, `0`. */
export function changed(before: number, after: number): string {
  if (before === after) return "0";
  return `${after > before ? "+" : "−"}${count(Math.abs(after - before))}`;
}

/** A ratio: `1.05×`; near 1, with as many digits as its distance from 1 needs. */
export function ratio(value: number): string {
  return `${Math.abs(value - 1) < 0.1 ? value.toFixed(3) : digits(value)}×`;
}

/** A ratio with its interval, with no more digits than the interval justifies, as in the text
 * report. */
export function ratioWithin(
  value: number,
  low: number,
  high: number,
): { value: string; interval: string } {
  const magnitude = Math.floor(Math.log10(value * 1.0005));
  const most = value < 1.5 ? 3 : Math.max(0, 2 - magnitude);
  const half = (high - low) / 2;
  const own = half > 0 ? Math.ceil(-Math.log10(half) - 1e-9) : 12;
  const decimals = Math.min(most, Math.max(Math.min(most, 1), own));
  const written = (it: number) => grouped(it.toFixed(decimals));
  return { value: `${written(value)}×`, interval: `[${written(low)}, ${written(high)}]` };
}

/** A figure at a tick, without meaningless zeros: `20 s`, not `20.0 s`. */
export function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
}

/** A ratio at a tick, with no more digits than it needs. */
export function ratioTick(value: number, significant = 3): string {
  return `${Number(value.toPrecision(significant))}×`;
}

/** A p-value: two significant digits, and nothing below one ten-thousandth. */
export function pValue(p: number): string {
  if (p < 0.0001) return "p < 0.0001";
  const places = [0.0995, 0.00995, 0.000995].filter((bound) => p < bound).length;
  return `p = ${p.toFixed(2 + places)}`;
}

/** A share in percent, with no more digits than it needs: `95 %`, `99.9 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(6))} %`;
}

/** A position on an axis: sizes are exact, everything else is a plain number. */
export function onAxis(unit: string, value: number): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "percent" || unit === "%") return `${digits(value)} %`;
  if (unit === "count" || unit === "threads" || unit === "") return count(value);
  return figure(unit, value);
}

/** The words of a name in snake or kebab case. */
export function words(name: string): string {
  return name.replaceAll(/[_-]/g, " ").replaceAll(/\bkib\b/g, "KiB");
}

/** A sentence from the terminal report, with µ and × where the terminal only has ASCII. */
export function typeset(sentence: string): string {
  return sentence
    .replaceAll(/(\d)([ \u00a0])us\b/g, "$1$2µs")
    .replaceAll(/(?<![\w.,:/-])(\d[\d.,]*)x(?=[\s,.;:)\]]|$)/g, "$1×");
}

function joined(number: string, unit: string): string {
  if (unit === "") return number;
  return unit === "×" ? `${number}${unit}` : `${number} ${unit}`;
}
