// The gallery: every widget, with the recorded sample and a made-up histogram over time. It is for
// development and not part of the bundle; `?theme=dark` starts it dark.

import { render } from "preact";
import { useState } from "preact/hooks";
import { Cachemap } from "./charts/cachemap/Cachemap";
import { FlameGraph } from "./charts/flame/FlameGraph";
import { Heatmap } from "./charts/heatmap/Heatmap";
import { type Sample, sampleOf } from "./charts/sample";
import { Surface3d } from "./charts/surface/Surface3d";
import { type ThemeName, themes } from "./charts/theme";
import { latencyAxis, timeAxis, timelineMatrix, timelineSummary } from "./charts/timeline";
import { digits } from "./format/units";
import "./style/page.css";
import "./style/charts.css";
import "./charts/widgets.css";

/** As in the paper's Figure 4: a peak of device reads fades while one of page cache reads grows. */
function warmingTimeline(slices = 128, rows = 32) {
  const count = new Float64Array(slices * rows);
  const bell = (row: number, middle: number, width: number) =>
    Math.exp(-(((row - middle) / width) ** 2));
  for (let slice = 0; slice < slices; slice += 1) {
    const warm = 1 / (1 + Math.exp(-(slice - slices * 0.55) / (slices * 0.1)));
    for (let row = 0; row < rows; row += 1) {
      const cached = 9000 * warm * bell(row, 11.4, 0.9);
      const device = 1400 * (1 - warm) * bell(row, 22.6, 1.3);
      count[row * slices + slice] = Math.floor(cached + device + 30 * warm * bell(row, 15, 2));
    }
  }
  return { slice_ns: 5e8, slices, log2_first: 0, rows, count };
}

const timeline = warmingTimeline();
const matrix = timelineMatrix(timeline);
const surface = {
  columns: timeAxis(timeline),
  rows: latencyAxis(timeline),
  values: timeline.count,
};

/** The sample with less work in some functions and more in others, for the comparison. */
function changed({ flame }: Sample): Float64Array {
  return flame.own.map(
    (own, node) =>
      own *
      ((flame.name[node] as number) % 3 === 0
        ? 0.45
        : (flame.name[node] as number) % 4 === 1
          ? 1.8
          : 1),
  );
}

function Gallery({ sample }: { sample: Sample }) {
  const asked = new URLSearchParams(location.search).get("theme");
  const [name, setName] = useState<ThemeName>(asked === "dark" ? "dark" : "light");
  const [before] = useState(() => changed(sample));
  const theme = themes[name];
  document.documentElement.dataset.theme = name;
  const shares = { format: (value: number) => `${digits(value * 100)} %`, never: "none" };
  return (
    <div style={{ background: theme.surface, padding: "12px 20px" }}>
      <p>
        {sample.about} The histogram over time is made up.{" "}
        <button type="button" onClick={() => setName(name === "light" ? "dark" : "light")}>
          {name === "light" ? "Dark" : "Light"}
        </button>
      </p>
      <Heatmap
        {...matrix}
        {...shares}
        title="Latency over time"
        summary={timelineSummary(timeline)}
        file="heatmap"
        theme={theme}
        label="share of the slice's operations"
      />
      <Surface3d
        {...surface}
        title="Operations over time and latency"
        summary={timelineSummary(timeline)}
        file="surface"
        theme={theme}
        label="operations"
      />
      {sample.cachemaps.map((map) => (
        <Cachemap key={map.of} map={map} file={`cachemap-${map.of}`} theme={theme} />
      ))}
      <FlameGraph {...sample.flame} file="flame" theme={theme} />
      <FlameGraph
        {...sample.flame}
        title="Instructions of bash, compared with a made-up change"
        before={before}
        file="flame-compared"
        theme={theme}
        shape="flame"
      />
    </div>
  );
}

async function begin() {
  const file = new URL("../fixtures/footprint-sample.bin.gz", import.meta.url);
  const packed = await (await fetch(file)).blob();
  const magic = new Uint8Array(await packed.slice(0, 2).arrayBuffer());
  // Some servers say that the file is compressed, so that the browser has already decompressed it.
  const isPacked = magic[0] === 0x1f && magic[1] === 0x8b;
  const stream = isPacked
    ? packed.stream().pipeThrough(new DecompressionStream("gzip"))
    : packed.stream();
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const root = document.getElementById("gallery");
  if (root) render(<Gallery sample={sampleOf(bytes)} />, root);
}

void begin();
