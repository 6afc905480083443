import { defineConfig } from "@playwright/test";
import { keepTemporaryFilesInMemory } from "../scripts/test/memory-folder.ts";
import { browser } from "./support/browser.ts";

keepTemporaryFilesInMemory();

/** `npm run e2e`: every story, in a real browser, against the demo on a production build (`scripts/setup.mjs --build`). */
export default defineConfig({
  testDir: ".",
  testIgnore: "shots.spec.ts",
  globalSetup: "./support/global-setup.ts",
  outputDir: "../test-results",
  reporter: [["list"]],
  // One Postgres, one web process and Chromium share the machine with the specs, and stories often wait.
  workers: 3,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  // No traces: recording them would take longer than many of the stories. `npm run e2e -- --trace on NAME` records one.
  use: { ...browser, screenshot: "only-on-failure" },
});
