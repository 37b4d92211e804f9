// Files saved from the page: made in memory, never fetched.

/** Offers `content` to be saved under this name. */
export function save(name: string, type: string, content: string | Blob) {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  // The browser has its own reference once the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
