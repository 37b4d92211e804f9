// A part of a section that is shown on demand, and only rendered then. On paper, everything is
// shown that is open, or that a figure cannot be quoted without.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePrinted } from "../charts/visible";

export interface FoldProps {
  title: ComponentChildren;
  /** Shown on paper even if it is folded. */
  onPaper?: boolean;
  /** Open initially, and whenever this becomes true or is requested again. */
  open?: boolean;
  /** Changes whenever opening it is requested again. */
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
        // Printing opens and closes it as well, which is not the reader's choice.
        if (currentTarget.open !== isShown) setOpen(currentTarget.open);
      }}
    >
      <summary>{title}</summary>
      {isShown && children()}
    </details>
  );
}
