// Content that may be wider than its place, and then scrolls separately, also by keyboard. If it is
// not wider, the heads of its tables stick to the window.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
  const holder = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const look = () => setWider(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  // Only what scrolls can be focused by keyboard.
  const reached = isWider ? { tabIndex: 0, role: "group" as const, "aria-label": label } : {};
  return (
    <div ref={holder} class={isWider ? "scrolling wider" : "scrolling"} {...reached}>
      {children}
    </div>
  );
}
