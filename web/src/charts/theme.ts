// Colours by role, light and dark. Widgets that draw on a canvas take them from here; the style
// sheet has the same values as custom properties.

export type ThemeName = "light" | "dark";

export interface Theme {
  name: ThemeName;
  /** Behind charts. */
  surface: string;
  /** Text. */
  ink: string;
  /** Less prominent text: axes, notes. */
  muted: string;
  /** Lines of grids and frames. */
  rule: string;
  /** What is selected or focused. */
  accent: string;
  /** Eight colours for targets, distinguishable under every common kind of colour blindness (after
   * Okabe & Ito, "Color Universal Design", 2008; adjusted until each has a contrast of 3:1 or more
   * with the surface and the distances that palettes.test.ts asks for). */
  categories: readonly string[];
  /** Bytes and cells that were never touched. */
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
    "#0072b1",
    "#df6216",
    "#006844",
    "#a7467d",
    "#855800",
    "#439ac6",
    "#1b2330",
    "#7e813b",
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
    "#3497cb",
    "#ef883b",
    "#2bc799",
    "#e08bb9",
    "#e8b626",
    "#8eb7ff",
    "#e6eaf0",
    "#c8cb69",
  ],
  never: "#141a22",
};

export const themes: Record<ThemeName, Theme> = { light: LIGHT, dark: DARK };

/** Strokes for the lines of targets, so that they differ by more than colour. */
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
