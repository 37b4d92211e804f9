// A part of a section that is shown on demand: what is inside is made only then. On paper stands
// what is open, and what a figure cannot be quoted without.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePrinted } from "../charts/visible";

export interface FoldProps {
  title: ComponentChildren;
  /** On paper even where it is folded. */
  onPaper?: boolean;
  /** Open from the beginning, and whenever this becomes true, or is said again. */
  open?: boolean;
  /** Whatever changes when it is said again that this is open. */
  again?: unknown;
  class?: string;
  children: () => ComponentChildren;
}

export function Fold(props: FoldProps) {
  const { title, onPaper = false, open = false, again, class: name = "fold", children } = props;
  const [isOpen, setOpen] = useState(open);
  useEffect(() => {
    if (open) setOpen(true);
  }, [open, again]);
  const isPrinted = usePrinted();
  const isShown = isOpen || (onPaper && isPrinted);
  return (
    <details
      class={name}
      open={isShown}
      onToggle={({ currentTarget }) => {
        // Printing opens and closes it too, which is nobody's choice.
        if (currentTarget.open !== isShown) setOpen(currentTarget.open);
      }}
    >
      <summary>{title}</summary>
      {isShown && children()}
    </details>
  );
}
