import { defineConfig } from "@playwright/test";
import { browser } from "./support/browser.ts";

/** `npm run shots`: a screenshot of every screen in `shots/`. */
export default defineConfig({
  testDir: ".",
  testMatch: "shots.spec.ts",
  globalSetup: "./support/global-setup.ts",
  outputDir: "../test-results",
  reporter: [["list"]],
  workers: 1,
  timeout: 300_000,
  use: { ...browser },
});
