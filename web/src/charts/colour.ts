// Colours as numbers: parsing, luminance and contrast by WCAG 2.2, distance in CIELAB, and how
// colours look to people who see two of the three primaries.

export type Rgb = readonly [number, number, number];

export function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function hexOf([red, green, blue]: Rgb): string {
  return `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
}

/** A channel from 0 to 255 as light, from 0 to 1 (IEC 61966-2-1). */
export function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** Relative luminance, from 0 to 1 (WCAG 2.2, "relative luminance"). */
export function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** From 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(left: Rgb, right: Rgb): number {
  const [dark = 0, light = 0] = [luminance(left), luminance(right)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

type Matrix = readonly [Rgb, Rgb, Rgb];

/** Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
 * Deficiency", IEEE TVCG 15(6), 2009: matrices for a severity of 1, on linear light. */
export const deficiencies: Record<"protanopia" | "deuteranopia" | "tritanopia", Matrix> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function applied(matrix: Matrix, [red, green, blue]: Rgb): Rgb {
  const row = ([a, b, c]: Rgb) => Math.max(0, Math.min(1, a * red + b * green + c * blue));
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}

/** A colour in CIELAB under the white of sRGB (D65), as seen with this deficiency. */
export function labOf(colour: Rgb, deficiency?: Matrix): Rgb {
  const light: Rgb = [linear(colour[0]), linear(colour[1]), linear(colour[2])];
  const [red, green, blue] = deficiency ? applied(deficiency, light) : light;
  const root = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = root(0.2126729 * red + 0.7151522 * green + 0.072175 * blue);
  const z = root((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Distance of two colours in CIELAB (CIE 1976); about 2 is barely noticeable side by side. */
export function distance(left: Rgb, right: Rgb, deficiency?: Matrix): number {
  const [a, b] = [labOf(left, deficiency), labOf(right, deficiency)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
