// Histograms for drawing: converts buckets and counts to shares per factor of 2, as a density,
// cumulative, or as the remainder.

/** The start of each bin on the latency axis, in nanoseconds, and its share. */
export type Shares = [number, number][];

/** The share of operations in each power of 2. No bucket extends over more than one. */
export function coarse(low: Float64Array, _end: Float64Array, counts: Float64Array): Shares {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = new Map<number, number>();
  low.forEach((value, index) => {
    const exponent = value < 1 ? 0 : Math.floor(Math.log2(value));
    shares.set(exponent, (shares.get(exponent) ?? 0) + (counts[index] as number) / total);
  });
  const exponents = [...shares.keys()];
  const [first, last] = [Math.min(...exponents), Math.max(...exponents)];
  const found: Shares = [];
  // Empty powers of 2 between others are drawn as what they are: nothing.
  for (let exponent = first - 1; exponent <= last + 1; exponent += 1) {
    found.push([2 ** exponent, shares.get(exponent) ?? 0]);
  }
  return found;
}

/** Bins per factor of 2 of the fine histogram: as fine as the eye can distinguish, and never finer
 * than the recorded buckets, of which there are 128 per factor of 2. */
const BINS = 24;

/** The share of operations in each bin; together, all of them. */
export function fine(low: Float64Array, end: Float64Array, counts: Float64Array): Shares {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const bins = new Map<number, number>();
  low.forEach((value, index) => {
    // For short latencies, a bucket is one nanosecond, which is wider than a bin.
    const from = Math.log2(Math.max(1, value)) * BINS;
    const to = Math.log2(Math.max(1.01, end[index] as number)) * BINS;
    const share = (counts[index] as number) / total;
    for (let bin = Math.floor(from); bin < to; bin += 1) {
      const overlap = Math.min(to, bin + 1) - Math.max(from, bin);
      bins.set(bin, (bins.get(bin) ?? 0) + (share * overlap) / (to - from));
    }
  });
  const numbers = [...bins.keys()];
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const found: Shares = [];
  for (let bin = first - 1; bin <= last + 1; bin += 1) {
    found.push([2 ** (bin / BINS), bins.get(bin) ?? 0]);
  }
  return found;
}

/** Points per factor of 2 of latency at which cumulative shares are drawn. */
const STEPS = 24;

/** The share of operations that took at most this long, at the ends of buckets as finely as the eye
 * can distinguish, and at the last one. */
export function cumulative(low: Float64Array, end: Float64Array, counts: Float64Array): Shares {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const found: Shares = low.length === 0 ? [] : [[Math.max(1, low[0] as number), 0]];
  let sum = 0;
  let step = Number.NEGATIVE_INFINITY;
  end.forEach((value, index) => {
    sum += counts[index] as number;
    const own = Math.floor(Math.log2(Math.max(1, value)) * STEPS);
    const last = found.at(-1);
    if (own === step && last) {
      last[1] = sum / total;
      last[0] = value;
    } else {
      found.push([value, sum / total]);
    }
    step = own;
  });
  return found;
}

/** The share of operations that took longer, up to the longest. The last point repeats the share
 * before it: no operation took longer, and 0 has no logarithm. */
export function tail(low: Float64Array, end: Float64Array, counts: Float64Array): Shares {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const all = cumulative(low, end, counts).map(([place, share]): [number, number] => [
    place,
    Math.round((1 - share) * total) / total,
  ]);
  const found: Shares = all.filter(([, share]) => share > 0);
  const [longest, last] = [all.at(-1), found.at(-1)];
  if (longest && last && longest !== last) found.push([longest[0], last[1]]);
  return found;
}
