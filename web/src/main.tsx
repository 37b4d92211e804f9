// The page starts here: it reads its data and shows it, or says why it cannot. The content for
// readers without scripts is only removed once there is something better.

import { render } from "preact";
import { App } from "./App";
import { reportOf } from "./data/model";
import { decode, PageError } from "./data/payload";
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/charts.css";
import "./charts/widgets.css";
import "./style/print.css";

async function begin() {
  const root = document.getElementById("page");
  const text = document.getElementById("text");
  if (root === null) return;
  try {
    const report = reportOf(await decode(document));
    render(<App report={report} />, root);
    text?.remove();
    performance.mark("fsprism-shown");
  } catch (error) {
    const known = error instanceof PageError;
    const why = known ? error.message : `This browser cannot show the charts: ${String(error)}.`;
    render(
      <p class="trouble" role="alert">
        {why} The report follows as text.
      </p>,
      root,
    );
    if (!known) console.error(error);
  }
}

void begin();
