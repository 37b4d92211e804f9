// Charts as files: an SVG text is the picture, and the PNG is painted from it.

import type { Picture } from "./frame";

/** Pixels of the PNG per CSS pixel. */
const DENSITY = 2;

/** The picture that a function draws as SVG; its size is in CSS pixels. */
export function pictureOf(draw: () => string): Picture {
  return { svg: draw, png: () => painted(draw()) };
}

async function painted(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * DENSITY;
  canvas.height = image.naturalHeight * DENSITY;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser has no canvas");
  context.scale(DENSITY, DENSITY);
  context.drawImage(image, 0, 0);
  return pngOf(canvas);
}

/** The contents of a canvas as PNG. Does not use `toBlob`, as Chromium only does that when it is
 * idle, which can be seconds later. */
export function pngOf(canvas: HTMLCanvasElement): Blob {
  const [, text = ""] = canvas.toDataURL("image/png").split("base64,");
  // A canvas that is too large returns no data.
  if (text === "") throw new Error("the picture is too large for this browser");
  return new Blob([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))], {
    type: "image/png",
  });
}
