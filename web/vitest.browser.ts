import { defineConfig } from "vitest/config";

// Real reports in a real browser: slow, and one after the other.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
    // A page that a busy machine draws late is no fault.
    expect: { poll: { timeout: 10_000 } },
    disableConsoleIntercept: true,
    reporters: ["verbose"],
  },
});
