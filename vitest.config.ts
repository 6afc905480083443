import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,api,app,worker,server,packages,scripts}/**/*.test.{ts,tsx}", "*.test.ts"],
    exclude: ["**/node_modules/**", "**/.next*/**"],
    globalSetup: "core/testing/global-setup.ts",
    setupFiles: "core/testing/setup.ts",
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
