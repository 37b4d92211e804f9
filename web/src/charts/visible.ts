// Charts are drawn when they come near the window: a page has hundreds of them.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Whether the element has been near the window; printing counts as that. */
export function useVisible(holder: RefObject<Element | null>): boolean {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
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
