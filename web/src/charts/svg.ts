// Writes SVG: elements with escaped text, nothing else.

/** Characters that XML does not allow, escaped or not (XML 1.0, production 2, "Char"). */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\p{Surrogate}]/gu;

export function escaped(text: string): string {
  return text
    .replaceAll(FORBIDDEN, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

type Attributes = Record<string, string | number | undefined>;

/** An element; `content` is already markup. */
export function element(name: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(numberOrText(value as string | number))}"`)
    .join("");
  return content === "" ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** A text element. */
export function text(content: string, attributes: Attributes): string {
  return element("text", attributes, escaped(content));
}

/** A whole file of this size, in CSS pixels. */
export function file(width: number, height: number, surface: string, content: string): string {
  const head = {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  };
  const ground = element("rect", { width, height, fill: surface });
  const style = 'font-family="system-ui, sans-serif" font-size="12"';
  const all = element("svg", head, `${ground}<g ${style}>${content}</g>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${all}\n`;
}

/** Rounds coordinates to a hundredth of a pixel, which is enough. */
function numberOrText(value: string | number): string {
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
}
