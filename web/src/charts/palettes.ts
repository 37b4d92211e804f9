// Colour tables of 256 entries, three bytes each, and the text that can be read on their colours.
//
// viridis: Stefan van der Walt and Nathaniel Smith, "A Better Default Colormap for Matplotlib",
// 2015; data in the public domain (CC0).
// divergent: own anchors, blue over a light grey to red, as ColorBrewer's RdBu orders them.

import { contrast, hexOf, type Rgb, rgbOf } from "./colour";

/** 256 colours: red, green and blue of each in turn. */
export type Palette = Uint8Array;

export const ENTRIES = 256;

export const viridis: Palette = table([
  "44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668",
  "48176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979",
  "472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84",
  "433d84433e85423f854240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a",
  "3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d",
  "355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e",
  "2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e",
  "297b8e287c8e287d8e277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e",
  "23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b",
  "1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a486",
  "21a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d",
  "2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf70",
  "46c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f",
  "65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d549",
  "89d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30",
  "b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a",
  "d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723",
  "fde725",
]);

/** Less is blue, the same is grey, more is red. */
export const divergent: Palette = between([
  [5, 66, 135],
  [67, 147, 195],
  [190, 214, 230],
  [236, 236, 236],
  [246, 200, 178],
  [214, 96, 77],
  [140, 10, 32],
]);

/** The same for a dark surface, into which "the same" recedes. */
const divergentDark: Palette = between([
  [120, 190, 250],
  [62, 120, 178],
  [50, 76, 104],
  [54, 60, 68],
  [104, 62, 54],
  [186, 84, 66],
  [255, 140, 112],
]);

export const divergentOn = { light: divergent, dark: divergentDark } as const;

/** The entry for `t` from 0 to 1; values outside are clamped. */
export function entryOf(t: number): number {
  return Math.max(0, Math.min(ENTRIES - 1, Math.round(t * (ENTRIES - 1))));
}

export function rgbAt(palette: Palette, t: number): Rgb {
  const at = entryOf(t) * 3;
  return [palette[at] ?? 0, palette[at + 1] ?? 0, palette[at + 2] ?? 0];
}

/** The colour for `t` from 0 to 1, in CSS notation. */
export function colourOf(palette: Palette, t: number): string {
  return hexOf(rgbAt(palette, t));
}

/** Black or white, whichever is easier to read on `ground`: one of them always has 4.5:1 or
 * more. */
export function textOn(ground: string): "#000000" | "#ffffff" {
  const colour = rgbOf(ground);
  const black = contrast([0, 0, 0], colour);
  return black >= contrast([255, 255, 255], colour) ? "#000000" : "#ffffff";
}

/** The position of a value on a logarithmic scale from `least` to `most`, from 0 to 1. */
export function logShare(value: number, least: number, most: number): number {
  return most > least ? Math.log(value / least) / Math.log(most / least) : 1;
}

function table(rows: readonly string[]): Palette {
  const text = rows.join("");
  return Uint8Array.from({ length: ENTRIES * 3 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}

function between(anchors: readonly Rgb[]): Palette {
  const palette = new Uint8Array(ENTRIES * 3);
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    const at = (entry / (ENTRIES - 1)) * (anchors.length - 1);
    const left = anchors[Math.floor(at)] ?? [0, 0, 0];
    const right = anchors[Math.ceil(at)] ?? [0, 0, 0];
    left.forEach((channel, index) => {
      const step = (at - Math.floor(at)) * ((right[index] ?? 0) - channel);
      palette[entry * 3 + index] = Math.round(channel + step);
    });
  }
  return palette;
}
