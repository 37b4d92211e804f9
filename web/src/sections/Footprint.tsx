// Cache lines that were touched, as cachemaps, and where work was done, as flame graphs.

import { useMemo } from "preact/hooks";
import { Cachemap } from "../charts/Cachemap";
import { FlameGraph } from "../charts/FlameGraph";
import type { Cachemap as CachemapRefs, FlameGraph as FlameGraphRefs } from "../contract";
import { floats, unsigned, unsigned64 } from "../data/payload";
import { useView } from "../view";

export function Footprint() {
  const { cachemaps, flame_graphs } = useView().report.payload;
  return (
    <>
      {cachemaps.map((map) => (
        <OneCachemap key={map.title} map={map} />
      ))}
      {flame_graphs.map((graph) => (
        <OneFlameGraph key={graph.title} graph={graph} />
      ))}
    </>
  );
}

function OneCachemap({ map }: { map: CachemapRefs }) {
  const { report, theme } = useView();
  const decoded = useMemo(
    () => ({
      ...map,
      address: unsigned64(report.block, map.address),
      name: unsigned(report.block, map.name),
      count: unsigned(report.block, map.count),
      touches: unsigned(report.block, map.touches),
      touch_stack: unsigned(report.block, map.touch_stack),
      touch_bytes: unsigned64(report.block, map.touch_bytes),
    }),
    [map, report.block],
  );
  return <Cachemap map={decoded} file={`cachemap-${map.of}`} theme={theme} />;
}

function OneFlameGraph({ graph }: { graph: FlameGraphRefs }) {
  const { report, theme } = useView();
  const decoded = useMemo(
    () => ({
      parent: unsigned(report.block, graph.parent),
      name: unsigned(report.block, graph.name),
      own: floats(report.block, graph.own),
    }),
    [graph, report.block],
  );
  const { title, unit, names } = graph;
  return (
    <FlameGraph title={title} unit={unit} names={names} file="flame" theme={theme} {...decoded} />
  );
}
