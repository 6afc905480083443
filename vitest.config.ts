import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,api,app,worker,server,packages,scripts}/**/*.test.{ts,tsx}", "*.test.ts"],
    exclude: ["**/node_modules/**", "**/.next*/**"],
    globalSetup: "core/testing/global-setup.ts",
    setupFiles: "core/testing/setup.ts",
    pool: "forks",
    // Machines that run tests are often busy with other things too.
    testTimeout: 30_000,
    slowTestThreshold: 5_000,
    hookTimeout: 60_000,
  },
});
