// Charts are drawn when they come near the window: a page has hundreds of them. On paper all of
// them are, and at once: the browser takes what stands there when its event has been handled.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

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

/** Whether the element has been near the window; printing counts as that. */
export function useVisible(holder: RefObject<Element | null>): boolean {
  const [visible, setVisible] = useState(isPrinting);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null || visible) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setVisible(true);
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    const show = () => setVisible(true);
    addEventListener("beforeprint", show);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", show);
    };
  }, [holder, visible]);
  return visible;
}
