// A part of a section that is shown on demand: what is inside is made only then. Printing opens it.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface FoldProps {
  title: string;
  /** Open from the beginning, and whenever this becomes true. */
  open?: boolean;
  class?: string;
  children: () => ComponentChildren;
}

export function Fold({ title, open = false, class: name = "fold", children }: FoldProps) {
  const [isOpen, setOpen] = useState(open);
  useEffect(() => {
    if (open) setOpen(true);
  }, [open]);
  useEffect(() => {
    const show = () => setOpen(true);
    addEventListener("beforeprint", show);
    return () => removeEventListener("beforeprint", show);
  }, []);
  return (
    <details
      class={name}
      open={isOpen}
      onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}
