import { defineConfig } from "vitest/config";

// One script and one style sheet, which the report crate puts into every page.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../target/web",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: true,
    lib: {
      entry: "src/main.tsx",
      formats: ["iife"],
      name: "fsprism",
      fileName: () => "page.js",
      cssFileName: "page",
    },
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
