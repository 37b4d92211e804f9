// Charts are drawn when they come near the window: a page has hundreds of them. On paper all of
// them are, and at once: the browser takes what stands there when its event has been handled.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// What a chart that is made because of printing (in a fold that opens) has not seen itself. This
// listener is the first, so that those of components find it up to date.
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

/** Whether the element is near the window now; printing counts as that. */
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
 * of filters costs the few charts that are looked at, however many have been seen. */
export function useDrawn<T>(holder: RefObject<Element | null>, newest: T): T | null {
  const near = useNear(holder);
  const held = useRef<T | null>(null);
  if (near) held.current = newest;
  return held.current;
}
