// The mark of a target: a shape in addition to its colour, for people who cannot see the colour.

import { element } from "./svg";

const SIDES = { square: 4, diamond: 4, up: 3, down: 3, hexagon: 6 };
/** In the order of targets, then repeating, as colours do. */
const SHAPES = ["circle", "square", "diamond", "up", "down", "hexagon"] as const;
/** The direction and distance of the first corner, chosen so that all marks look equally large. */
const TURNED: Record<keyof typeof SIDES, [degrees: number, far: number]> = {
  square: [45, 1.25],
  diamond: [0, 1.3],
  up: [-90, 1.4],
  down: [90, 1.4],
  hexagon: [0, 1.1],
};

/** The outline of the mark of the target at this place, as an SVG path. */
export function markPath(index: number, x: number, y: number, r: number): string {
  const shape = SHAPES[index % SHAPES.length] ?? "circle";
  if (shape === "circle") {
    return `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  }
  const [turned, far] = TURNED[shape];
  const corners = Array.from({ length: SIDES[shape] }, (_, corner) => {
    const angle = ((turned + (corner * 360) / SIDES[shape]) * Math.PI) / 180;
    return [x + far * r * Math.cos(angle), y + far * r * Math.sin(angle)];
  });
  return `M${corners.map((corner) => corner.map((at) => at.toFixed(2)).join(",")).join("L")}Z`;
}

export interface MarkAt {
  x: number;
  y: number;
  r: number;
  fill: string;
  stroke?: string;
}

export function markSvg(index: number, { x, y, r, fill, stroke }: MarkAt): string {
  const line = stroke === undefined ? {} : { stroke, "stroke-width": 1.5 };
  return element("path", { d: markPath(index, x, y, r), fill, ...line });
}
