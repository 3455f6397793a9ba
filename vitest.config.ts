import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.setpoint/**"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/each-test.ts"],
    pool: "forks",
    // Many tests wait more than they work, so two at once suit two cores, too.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Test files keep nothing in modules, and loading these anew for each file takes longer than most files do.
    isolate: false,
    // By Node itself, as everything runs that is tested. Vite's own way of importing makes long work many times as long.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Only what hangs takes so long: a machine that is busy with other things must not make a test fail.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
