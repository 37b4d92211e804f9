// Colours by role, light and dark. Widgets that draw on a canvas take them from here; the style
// sheet has the same values as custom properties.

export type ThemeName = "light" | "dark";

export interface Theme {
  name: ThemeName;
  /** Behind charts. */
  surface: string;
  /** Text. */
  ink: string;
  /** Text of less weight: axes, notes. */
  muted: string;
  /** Lines of grids and frames. */
  rule: string;
  /** Where something is selected or focused. */
  accent: string;
  /** Eight colours for targets, each told from the others under every common kind of colour
   * blindness (after Okabe & Ito, "Color Universal Design", 2008; darkened or lightened until each
   * has a contrast of 3:1 or more with the surface). */
  categories: readonly string[];
  /** Where a byte or a cell was never touched. */
  never: string;
}

const LIGHT: Theme = {
  name: "light",
  surface: "#ffffff",
  ink: "#1b2330",
  muted: "#566070",
  rule: "#d5dae2",
  accent: "#0b5fb0",
  categories: [
    "#0072b2",
    "#c14a00",
    "#00805c",
    "#a8467c",
    "#946200",
    "#2f7fa8",
    "#1b2330",
    "#6b6f1d",
  ],
  never: "#ffffff",
};

const DARK: Theme = {
  name: "dark",
  surface: "#141a22",
  ink: "#e6eaf0",
  muted: "#a3adbb",
  rule: "#333d4a",
  accent: "#6cb6ff",
  categories: [
    "#56b4e9",
    "#f08a3c",
    "#2fc79a",
    "#e18fbd",
    "#e6b422",
    "#8fb8ff",
    "#e6eaf0",
    "#c9cc6a",
  ],
  never: "#141a22",
};

export const themes: Record<ThemeName, Theme> = { light: LIGHT, dark: DARK };

/** Strokes for lines of targets, so that they differ by more than colour. */
export const dashes: readonly (readonly number[])[] = [
  [],
  [7, 4],
  [2, 3],
  [10, 3, 2, 3],
  [12, 5],
  [4, 2],
  [8, 2, 2, 2, 2, 2],
  [1, 4],
];
