import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.setpoint/**"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    // Test files keep nothing in modules, and loading these anew for each file takes longer than most files do.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
