// Charts are only drawn near the window, as a page has hundreds of them. For paper, all of them are
// drawn, and immediately: the browser prints what is there when its event has been handled.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// For charts that are created by printing (in a fold that opens), and have not seen the event. This
// listener is registered first, so that those of components find the variable up to date.
let isPrinting = false;
if (typeof addEventListener === "function") {
  addEventListener("beforeprint", () => {
    isPrinting = true;
  });
  addEventListener("afterprint", () => {
    isPrinting = false;
  });
}

/** Whether the page is being printed. */
export function usePrinted(): boolean {
  const [printed, setPrinted] = useState(isPrinting);
  useLayoutEffect(() => {
    const follow = () => setPrinted(isPrinting);
    addEventListener("beforeprint", follow);
    addEventListener("afterprint", follow);
    return () => {
      removeEventListener("beforeprint", follow);
      removeEventListener("afterprint", follow);
    };
  }, []);
  return printed;
}

/** Whether the element is currently near the window, or the page is being printed. */
function useNear(holder: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(isPrinting);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const observer = new IntersectionObserver(
      (entries) => setNear(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [holder]);
  return usePrinted() || near;
}

/** What a chart draws: the newest while it is near the window, else what it drew last. So a change
 * of filters only costs the few charts being looked at, however many have been visible before. */
export function useDrawn<T>(holder: RefObject<Element | null>, newest: T): T | null {
  const near = useNear(holder);
  const held = useRef<T | null>(null);
  if (near) held.current = newest;
  return held.current;
}
