export function HistogramOverTime(_: { benchmark: import("../data/model").Benchmark }) {
  return null;
}
