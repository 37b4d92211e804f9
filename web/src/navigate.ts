// Where on the page the reader is. What is looked at is in the address, and how far it is scrolled
// is in the history, so that Back returns to the same place and not only to the same view.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Report } from "./data/model";
import { formatRoute, HOME, parseRoute, type Route } from "./data/route";
import { known } from "./data/selection";

/** The scroll position is recorded after scrolling has stopped for this many milliseconds. */
const REST = 120;

/** Where to scroll when the route is shown: to its section, to a position, or not at all. */
type Wanted = "section" | number | null;

function placeOf(state: unknown): number | null {
  const { y } = (state ?? {}) as { y?: unknown };
  return typeof y === "number" ? y : null;
}

function remember(y: number) {
  if (placeOf(history.state) === y) return;
  try {
    history.replaceState({ y }, "");
  } catch {
    // If a page may not write its history (as in a sandboxed frame), Back is left to the browser.
  }
}

/** Makes this the address. */
function move(hash: string) {
  if (hash === location.hash) return;
  try {
    history.pushState(null, "", hash);
  } catch {
    location.hash = hash;
  }
}

/** How long a section is held in place after going to it, in milliseconds. */
const HELD = 1000;

/** Scrolls to a section and holds it there: charts are drawn as they come near, and those above the
 * section push it down. Ends as soon as the reader scrolls. */
function hold(section: HTMLElement | null) {
  if (section === null) return;
  section.scrollIntoView();
  const observer = new ResizeObserver(() => section.scrollIntoView());
  observer.observe(document.body);
  const stop = new AbortController();
  const end = () => {
    observer.disconnect();
    stop.abort();
  };
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(kind, end, { passive: true, signal: stop.signal });
  const timer = setTimeout(end, HELD);
  return () => {
    clearTimeout(timer);
    end();
  };
}

export interface Navigation {
  route: Route;
  /** Goes to the route with these parts changed, and to its section if that is one of them. */
  go: (change: Partial<Route>) => void;
}

export function useNavigation(report: Report): Navigation {
  const [route, setRoute] = useState<Route>(() => known(report, parseRoute(location.hash)));
  const isHome = route.section === HOME.section;
  const wanted = useRef<Wanted>(placeOf(history.state) ?? (isHome ? null : "section"));
  useEffect(() => {
    history.scrollRestoration = "manual";
    let timer = 0;
    const rest = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => remember(scrollY), REST);
    };
    const follow = (event: PopStateEvent) => {
      clearTimeout(timer);
      // An address that was typed has no recorded position yet.
      wanted.current = placeOf(event.state) ?? "section";
      setRoute(known(report, parseRoute(location.hash)));
    };
    addEventListener("scroll", rest, { passive: true });
    addEventListener("popstate", follow);
    return () => {
      clearTimeout(timer);
      removeEventListener("scroll", rest);
      removeEventListener("popstate", follow);
    };
  }, [report]);
  useLayoutEffect(() => {
    const to = wanted.current;
    wanted.current = null;
    if (to === "section") return hold(document.getElementById(route.section));
    if (to !== null) scrollTo(0, to);
  }, [route]);
  const now = useRef(route);
  now.current = route;
  const go = useCallback((change: Partial<Route>) => {
    const next = { ...now.current, ...change };
    now.current = next;
    const y = scrollY;
    // Writing the history is slow in browsers, so paint what was asked for first.
    requestAnimationFrame(() =>
      setTimeout(() => {
        remember(y);
        move(formatRoute(next));
      }),
    );
    if (change.section !== undefined) wanted.current = "section";
    setRoute(next);
  }, []);
  return { route, go };
}

/** The share of the window, from its top, within which a section must begin to count as the one
 * being read. */
const READ_AT = 0.3;

/** The section being read; it follows scrolling. */
export function useCurrent(ids: string[], chosen: string): string {
  const [current, setCurrent] = useState(chosen);
  const all = ids.join(" ");
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      setCurrent(currentOf(all.split(" "), chosen));
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    later();
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
    };
  }, [all, chosen]);
  return current;
}

function currentOf(ids: string[], chosen: string): string {
  const tops = ids.map((id) => document.getElementById(id)?.getBoundingClientRect().top ?? 0);
  const read = tops.findLastIndex((top) => top < innerHeight * READ_AT);
  // At the end of the page, short sections never get to its top.
  const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const wanted = ids.indexOf(chosen);
  const isSeen = wanted >= 0 && (tops[wanted] as number) < innerHeight;
  if (isAtEnd && scrollY > 0) return ids[isSeen && wanted > read ? wanted : ids.length - 1] ?? "";
  // Two sections side by side begin at the same height: the one that was asked for is meant.
  if (isSeen && tops[wanted] === tops[read]) return chosen;
  return ids[Math.max(0, read)] ?? "";
}
