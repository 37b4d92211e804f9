// Builds the bundle and puts it where the report crate embeds it from; with --check it only says
// whether what lies there is what the sources give.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const built = new URL("../../target/web/", import.meta.url);
const embedded = new URL("../../crates/report/assets/", import.meta.url);

execFileSync("npx", ["vite", "build", "--logLevel", "warn"], {
  cwd: new URL("..", import.meta.url),
  stdio: "inherit",
});
mkdirSync(embedded, { recursive: true });
// What stands between tags is hashed as it stands there, and must not end its element.
const [script, style] = ["page.js", "page.css"].map((name) =>
  readFileSync(new URL(name, built), "utf8"),
);
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) {
  throw new Error("the bundle holds a tag that would end the element which it stands in");
}
const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}\n`;
// What is in the bundle of others' asks that its licence goes with it.
const licences = ["preact", "uplot"].map((name) => {
  const text = readFileSync(new URL(`../node_modules/${name}/LICENSE`, import.meta.url), "utf8");
  return `${name}\n\n${text.trim()}\n`;
});
const files = {
  "page.js": script,
  "page.css": style,
  "page.hashes": hash(script) + hash(style),
  "licences.txt": licences.join("\n"),
};

let differ = false;
for (const [name, text] of Object.entries(files)) {
  const place = new URL(name, embedded);
  if (existsSync(place) && readFileSync(place, "utf8") === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`crates/report/assets/${name} is not what web/ gives: run \`npm run bundle\``);
    differ = true;
  } else {
    writeFileSync(place, text);
  }
}
if (differ) process.exit(1);
