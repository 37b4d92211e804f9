// Builds the bundle and puts it where the report crate embeds it from; with --check it only says
// whether what lies there is what the sources give.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const built = new URL("../../target/web/", import.meta.url);
const embedded = new URL("../../crates/report/assets/", import.meta.url);

execFileSync("npx", ["vite", "build", "--logLevel", "warn"], {
  cwd: new URL("..", import.meta.url),
  stdio: "inherit",
});
mkdirSync(embedded, { recursive: true });
let differ = false;
for (const name of ["page.js", "page.css"]) {
  const text = readFileSync(new URL(name, built), "utf8");
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
