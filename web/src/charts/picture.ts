// Charts as files: an SVG text is the picture, and what is painted of it the PNG.

import type { Picture } from "./frame";

/** Pixels of the PNG per CSS pixel. */
const DENSITY = 2;

/** The picture that a function draws as SVG, of this size in CSS pixels. */
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
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("PNG encoding failed"))));
  });
}
