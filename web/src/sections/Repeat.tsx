// How to measure it again, and everything that was measured, for download.

import { useState } from "preact/hooks";
import type { SuiteOptions } from "../contract";
import { textOf } from "../data/payload";
import { save } from "../data/save";
import { bytes } from "../format/units";
import { useView } from "../view";
import { Fold } from "./Fold";

export function Repeat() {
  const { report } = useView();
  return (
    <>
      {report.runs.map(({ page, document }) => {
        const again = () => textOf(report.block, page.document);
        return (
          <div key={page.name} class="repeat">
            {report.runs.length > 1 && <h3>{page.name}</h3>}
            <p>
              To repeat this run on fsprism {document.tool?.version}, with its seed ({page.seed}):
            </p>
            <Command text={page.command} />
            <JobFile options={document.run.classic} />
            <p>
              <button
                type="button"
                onClick={() => save(`${page.name}.csv`, "text/csv", textOf(report.block, page.csv))}
              >
                Save CSV
              </button>{" "}
              one row per replicate and metric ({bytes(page.csv.length)})
            </p>
            <p>
              <button
                type="button"
                onClick={() => save(`${page.name}.json`, "application/json", again())}
              >
                Save JSON
              </button>{" "}
              the whole document ({bytes(page.document.length)}), as{" "}
              <code>fsprism report {page.name} --format json</code> prints it
            </p>
          </div>
        );
      })}
      <p class="note">
        The run directory holds the histograms of every replicate (HdrHistogram logs); here they are
        pooled per cell.
      </p>
    </>
  );
}

/** The text of the job file of fio that was executed, if one was. */
function JobFile({ options }: { options: SuiteOptions | null | undefined }) {
  if (options?.benchmark !== "job-file") return null;
  return (
    <Fold title={`The job file ${options.file}, as it was written`} onPaper>
      {() => <pre class="jobs">{options.lines.join("\n")}</pre>}
    </Fold>
  );
}

function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      // A page from a file may not write to the clipboard, but the text can be selected by hand.
      setCopied(false);
    }
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
