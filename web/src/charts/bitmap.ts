// Bitmaps with one pixel per cell, and whole pictures for saving.

import type { Picture } from "./frame";
import { CanvasPainter, type Painter, SvgPainter } from "./painter";
import { pngOf } from "./picture";
import type { Theme } from "./theme";

export interface Size {
  width: number;
  height: number;
}

/** A colour as one number, in the byte order of ImageData on little-endian machines. */
export function packedColour(red: number, green: number, blue: number): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The colours of a palette as such numbers. */
export function packedPalette(palette: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: palette.length / 3 }, (_, entry) =>
    packedColour(palette[entry * 3] ?? 0, palette[entry * 3 + 1] ?? 0, palette[entry * 3 + 2] ?? 0),
  );
}

/** A canvas that only serves as a source of pixels. */
export function bitmapOf(pixels: Uint32Array, { width, height }: Size): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  const bytes = new Uint8ClampedArray(pixels.buffer as ArrayBuffer, 0, width * height * 4);
  if (width > 0 && height > 0) {
    canvas.getContext("2d")?.putImageData(new ImageData(bytes, width, height), 0, 0);
  }
  return canvas;
}

/** Pixels of a saved picture for each CSS pixel. */
const PICTURE_SCALE = 2;
const TITLE_HEIGHT = 34;

interface PictureContent {
  title: string;
  theme: Theme;
  size: Size;
  draw(painter: Painter, size: Size): void;
}

/** A picture with its title above, as a PNG at twice the resolution and as SVG. */
export function canvasPicture({ title, theme, size, draw }: PictureContent): Picture {
  const whole = { width: size.width, height: size.height + TITLE_HEIGHT };
  return {
    async png() {
      const canvas = document.createElement("canvas");
      canvas.width = whole.width * PICTURE_SCALE;
      canvas.height = whole.height * PICTURE_SCALE;
      const context = canvas.getContext("2d");
      if (!context) throw new Error("this browser cannot draw on a canvas");
      context.scale(PICTURE_SCALE, PICTURE_SCALE);
      const painter = new CanvasPainter(context);
      painter.rect(0, 0, whole.width, whole.height, theme.surface);
      writeTitle(painter, title, theme);
      context.translate(0, TITLE_HEIGHT);
      draw(painter, size);
      return pngOf(canvas);
    },
    svg() {
      const painter = new SvgPainter();
      writeTitle(painter, title, theme);
      painter.moved(0, TITLE_HEIGHT, () => draw(painter, size));
      return painter.finish(whole.width, whole.height, theme.surface);
    },
  };
}

function writeTitle(painter: Painter, title: string, theme: Theme) {
  painter.text(title, 12, TITLE_HEIGHT / 2, { fill: theme.ink, bold: true, size: 14 });
}
