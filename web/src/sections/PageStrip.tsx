// A file from its first page to its last, as one strip: the darker, the more of the pages that a
// pixel stands for were resident.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageRuns } from "../contract";

/** Pixels that a strip is drawn in, before it is scaled. */
const COLUMNS = 600;

export interface PageStripProps {
  label: string;
  colour: string;
  surface: string;
  pages: PageRuns;
  said: string;
}

export function PageStrip({ label, colour, surface, pages, said }: PageStripProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    context.globalAlpha = 1;
    context.fillStyle = surface;
    context.fillRect(0, 0, COLUMNS, 1);
    context.fillStyle = colour;
    shares(pages, COLUMNS).forEach((share, column) => {
      context.globalAlpha = share;
      context.fillRect(column, 0, 1, 1);
    });
  }, [colour, surface, pages]);
  return (
    <div class="strip">
      <span>{label}</span>
      <canvas
        ref={canvas}
        width={COLUMNS}
        height={1}
        role="img"
        aria-label={`${label}: ${said} resident`}
      />
      <span class="note">{said}</span>
    </div>
  );
}

/** For each of `columns` equal parts of the file, the share of its pages that were resident. */
export function shares({ pages, resident }: PageRuns, columns: number): Float64Array {
  const found = new Float64Array(columns);
  const width = pages / columns;
  for (const [first = 0, length = 0] of resident) {
    const end = Math.min(pages, first + length);
    for (let column = Math.floor(first / width); column < columns; column += 1) {
      const [from, to] = [column * width, (column + 1) * width];
      if (from >= end) break;
      const overlap = Math.min(end, to) - Math.max(first, from);
      found[column] = Math.min(1, (found[column] ?? 0) + Math.max(0, overlap) / width);
    }
  }
  return found;
}
