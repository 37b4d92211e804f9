// The visible part of a cachemap: its zoom, and how far it is scrolled.

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Byte, CachemapData, Layout } from "./layout";
import { byteAt, CELLS, cellThatFits, cornerOf, layoutOf, TOP } from "./layout";

/** The maximum height of the visible part, in CSS pixels. */
const VIEW_HEIGHT = 680;

export interface CachemapView {
  layout: Layout;
  width: number;
  /** Height of the visible part of the map. */
  seen: number;
  scrolled: number;
  scroller: RefObject<HTMLDivElement | null>;
  setWidth(width: number): void;
  onScroll(): void;
  /** Makes cells larger (above 0) or smaller, and keeps this byte, or the middle, in place. */
  zoom(direction: number, around: Byte | null): void;
  canZoom(direction: number): boolean;
  /** Makes cells as large as possible with all lines visible at once. */
  fit(): void;
  /** Scrolls until the byte is visible. */
  reveal(byte: Byte): void;
  /** The byte at a point of the visible part. */
  at(x: number, y: number): Byte | null;
}

export function useCachemapView(map: CachemapData): CachemapView {
  const [width, setWidth] = useState(640);
  const [chosen, setChosen] = useState<number | null>(null);
  const [scrolled, setScrolled] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const kept = useRef<{ byte: Byte; y: number } | null>(null);
  const cell = chosen ?? cellThatFits(map, width, VIEW_HEIGHT);
  const layout = useMemo(() => layoutOf(map, width, cell), [map, width, cell]);
  const seen = Math.min(layout.height, VIEW_HEIGHT);
  const next = (direction: number) => CELLS[CELLS.indexOf(cell) + Math.sign(direction)];
  const canZoom = (direction: number) => {
    const wanted = next(direction);
    if (wanted === undefined) return false;
    const { margin, lineBytes } = layoutOf(map, width, wanted);
    return margin + lineBytes * wanted <= width;
  };
  useLayoutEffect(() => {
    // Lines have moved, so bring what was being looked at back to where it was.
    if (kept.current && scroller.current) {
      scroller.current.scrollTop = cornerOf(layout, kept.current.byte).y - kept.current.y;
      setScrolled(scroller.current.scrollTop);
    }
    kept.current = null;
  }, [layout]);
  return {
    layout,
    width,
    seen,
    scrolled,
    scroller,
    setWidth,
    canZoom,
    onScroll: () => setScrolled(scroller.current?.scrollTop ?? 0),
    zoom(direction, around) {
      if (!canZoom(direction)) return;
      const byte = around ?? middleOf(layout, scrolled, seen);
      kept.current = { byte, y: cornerOf(layout, byte).y - scrolled };
      setChosen(next(direction) as number);
    },
    fit: () => setChosen(null),
    reveal(byte) {
      const { y } = cornerOf(layout, byte);
      const top = Math.min(scrolled, y - TOP - 4);
      const to = Math.max(top, y + layout.cell + 6 - seen);
      if (to !== scrolled && scroller.current) scroller.current.scrollTop = to;
    },
    at: (x, y) => (y < TOP || y > seen ? null : byteAt(layout, x, y + scrolled)),
  };
}

function middleOf(layout: Layout, scrolled: number, seen: number): Byte {
  const row = Math.floor((scrolled + seen / 2 - TOP) / layout.cell);
  return { line: Math.max(0, Math.min(layout.lines - 1, row)), byte: 0 };
}
