// What widgets draw with: a few shapes, implemented for a canvas and for SVG, so that a saved
// picture is what was on screen.

import { element, file, text as svgText } from "./svg";

export interface TextStyle {
  fill: string;
  align?: "left" | "center" | "right";
  size?: number;
  bold?: boolean;
  /** Written upwards instead of to the right. */
  upwards?: boolean;
}

/** Shapes in CSS pixels. Text is positioned by its vertical middle. */
export interface Painter {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  outline(x: number, y: number, width: number, height: number, stroke: string, line?: number): void;
  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width?: number): void;
  /** Corners as x, y, x, y, ...; `stroke` hides the seams between neighbours. */
  polygon(points: readonly number[], fill: string, stroke?: string, width?: number): void;
  text(content: string, x: number, y: number, style: TextStyle): void;
  textWidth(content: string, size?: number): number;
  /** Scales a part of a bitmap so that each of its pixels is a rectangle with sharp edges. */
  image(bitmap: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  /** Draws what `draw` draws, clipped to this rectangle. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = "system-ui, sans-serif";
export const FONT_SIZE = 12;

/** Draws on a canvas whose transformation is already set up for the device. */
export class CanvasPainter implements Painter {
  readonly context: CanvasRenderingContext2D;

  constructor(context: CanvasRenderingContext2D) {
    this.context = context;
    context.textBaseline = "middle";
  }

  rect(x: number, y: number, width: number, height: number, fill: string) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  outline(x: number, y: number, width: number, height: number, stroke: string, line = 1) {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = line;
    this.context.strokeRect(x, y, width, height);
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1) {
    const { context } = this;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }

  polygon(points: readonly number[], fill: string, stroke?: string, width = 1) {
    const { context } = this;
    context.beginPath();
    for (let at = 0; at < points.length; at += 2) {
      context.lineTo(points[at] as number, points[at + 1] as number);
    }
    context.closePath();
    context.fillStyle = fill;
    context.fill();
    if (!stroke) return;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.stroke();
  }

  text(content: string, x: number, y: number, style: TextStyle) {
    const { context } = this;
    this.font(style.size, style.bold);
    context.textAlign = style.align ?? "left";
    context.fillStyle = style.fill;
    if (!style.upwards) {
      context.fillText(content, x, y);
      return;
    }
    context.save();
    context.translate(x, y);
    context.rotate(-Math.PI / 2);
    context.fillText(content, 0, 0);
    context.restore();
    this.lastFont = "";
  }

  textWidth(content: string, size?: number): number {
    this.font(size);
    return this.context.measureText(content).width;
  }

  image(bitmap: HTMLCanvasElement, x: number, y: number, width: number, height: number) {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(bitmap, x, y, width, height);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
    this.lastFont = "";
  }

  private font(size = FONT_SIZE, bold = false) {
    const font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    // Setting a font parses it, which is expensive with thousands of texts.
    if (font !== this.lastFont) this.context.font = font;
    this.lastFont = font;
  }

  private lastFont = "";
}

const ANCHORS = { left: "start", center: "middle", right: "end" } as const;

/** Collects the same shapes as SVG. */
export class SvgPainter implements Painter {
  private parts: string[] = [];
  private clips = 0;

  rect(x: number, y: number, width: number, height: number, fill: string) {
    this.parts.push(element("rect", { x, y, width, height, fill }));
  }

  outline(x: number, y: number, width: number, height: number, stroke: string, line = 1) {
    const shape = { x, y, width, height, fill: "none", stroke, "stroke-width": line };
    this.parts.push(element("rect", shape));
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1) {
    this.parts.push(element("line", { x1, y1, x2, y2, stroke, "stroke-width": width }));
  }

  polygon(points: readonly number[], fill: string, stroke?: string, width = 1) {
    const corners = points.map((at) => Math.round(at * 100) / 100).join(" ");
    const line = stroke ? width : undefined;
    this.parts.push(element("polygon", { points: corners, fill, stroke, "stroke-width": line }));
  }

  text(content: string, x: number, y: number, style: TextStyle) {
    const turned = style.upwards ? `rotate(-90 ${x.toFixed(2)} ${y.toFixed(2)})` : undefined;
    this.parts.push(
      svgText(content, {
        x,
        y,
        fill: style.fill,
        "text-anchor": ANCHORS[style.align ?? "left"],
        "dominant-baseline": "central",
        "font-size": style.size,
        "font-weight": style.bold ? 600 : undefined,
        transform: turned,
      }),
    );
  }

  /** Without a font, estimates from the mean width of a letter in common sans-serif fonts. */
  textWidth(content: string, size = FONT_SIZE): number {
    return content.length * size * 0.6;
  }

  image(bitmap: HTMLCanvasElement, x: number, y: number, width: number, height: number) {
    const href = bitmap.toDataURL("image/png");
    const shape = { x, y, width, height, href, preserveAspectRatio: "none" };
    this.parts.push(element("image", { ...shape, "image-rendering": "pixelated" }));
  }

  within(x: number, y: number, width: number, height: number, draw: () => void) {
    const outer = this.parts;
    this.parts = [];
    draw();
    const id = `clip-${this.clips}`;
    this.clips += 1;
    const clip = element("clipPath", { id }, element("rect", { x, y, width, height }));
    const group = element("g", { "clip-path": `url(#${id})` }, this.parts.join(""));
    this.parts = [...outer, clip, group];
  }

  /** Draws what `draw` draws, translated. */
  moved(x: number, y: number, draw: () => void) {
    const outer = this.parts;
    this.parts = [];
    draw();
    const group = element("g", { transform: `translate(${x} ${y})` }, this.parts.join(""));
    this.parts = [...outer, group];
  }

  /** The whole file. */
  finish(width: number, height: number, surface: string): string {
    return file(width, height, surface, this.parts.join(""));
  }
}

/** `content`, or as much of its beginning as fits into `width`. */
export function clipped(content: string, width: number, measure: (text: string) => number): string {
  if (measure(content) <= width) return content;
  let [low, high] = [0, content.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${content.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${content.slice(0, low)}…`;
}
