// What every section is given: the report, the part of it that is shown, and how to go elsewhere.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { dashes, type Theme } from "./charts/theme";
import type { Report, Side } from "./data/model";
import type { Route } from "./data/route";
import type { Selection } from "./data/selection";

export interface View {
  report: Report;
  selection: Selection;
  route: Route;
  theme: Theme;
  /** Goes to the route with these parts changed. */
  go: (change: Partial<Route>) => void;
}

export const ViewContext = createContext<View | null>(null);

export function useView(): View {
  const view = useContext(ViewContext);
  if (view === null) throw new Error("a section stands outside the page");
  return view;
}

/** The colour of a side, the same everywhere on the page. */
export function colourOf(theme: Theme, side: Side): string {
  return theme.categories[side.index % theme.categories.length] as string;
}

/** The colour of a target, if all runs together have only one with this label; else that of
 * text. */
export function colourOfTarget({ report, theme }: View, target: string): string {
  const sides = report.sides.filter((one) => one.target === target);
  const [only] = sides;
  return only !== undefined && sides.length === 1 ? colourOf(theme, only) : theme.ink;
}

/** The stroke of a side's lines, which can be told apart without colour too. */
export function dashOf(side: Side): readonly number[] {
  return dashes[side.index % dashes.length] as readonly number[];
}
