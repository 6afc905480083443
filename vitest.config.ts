import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,api,app,worker,server,packages,scripts}/**/*.test.{ts,tsx}", "*.test.ts"],
    exclude: ["**/node_modules/**", "**/.next*/**"],
    globalSetup: "core/testing/global-setup.ts",
    setupFiles: "core/testing/setup.ts",
    pool: "forks",
    // One core less than there are, as Vitest has it, would be one alone on a machine with two; and tests wait a good deal.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Machines that run tests are often busy with other things too.
    testTimeout: 30_000,
    slowTestThreshold: 5_000,
    hookTimeout: 60_000,
  },
});
