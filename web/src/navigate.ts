// Where on the page one is: what is looked at stands in the address, how far one has scrolled in
// the history, so that Back returns to where one was and not only to what was shown there.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Report } from "./data/model";
import { formatRoute, HOME, parseRoute, type Route } from "./data/route";
import { known } from "./data/selection";

/** Scrolling that has stopped for this long is remembered, in milliseconds. */
const REST = 120;

/** Where to scroll once the route is shown: to its section, to a place, or not at all. */
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
    // Where a page may not write its history (in a frame that is shut off), Back is the browser's.
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

/** For how long a section that was gone to is held in place, in milliseconds. */
const HELD = 1000;

/** Scrolls to a section and holds it there: charts are drawn as they come near, and those above it
 * push it down. Whoever scrolls meanwhile has the page. */
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
  /** Goes to the route with these parts changed; to its section, where that is one of them. */
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
      // An address that was typed has no place yet.
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
    // Browsers take their time to write the history: what was asked for is painted first.
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

/** The share of the window, from its top, within which a section must begin to be the one that is
 * read. */
const READ_AT = 0.3;

/** The section that is read: it follows scrolling. */
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
  // Two that stand side by side begin at one height: the one that was asked for is meant.
  if (isSeen && tops[wanted] === tops[read]) return chosen;
  return ids[Math.max(0, read)] ?? "";
}
