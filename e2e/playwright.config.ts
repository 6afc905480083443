import { defineConfig } from "@playwright/test";
import { browser } from "./support/browser.ts";

/** `npm run e2e`: every story, in a real browser, against the demo on a production build (`scripts/setup.mjs --build`). */
export default defineConfig({
  testDir: ".",
  testIgnore: "shots.spec.ts",
  globalSetup: "./support/global-setup.ts",
  outputDir: "../test-results",
  reporter: [["list"]],
  // One Postgres, one web process and Chromium share the machine with the specs; and stories wait a good deal.
  workers: 3,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  // A landing must not hang on one slow second of a shared machine; what passes only then is listed as flaky.
  retries: process.env.CI ? 1 : 0,
  // A trace is a film and a copy of the page at each step: of every test it would cost more than many of them. What fails is run
  // again in CI, and filmed then; elsewhere `npm run e2e -- --trace on NAME` films it.
  use: { ...browser, trace: "on-first-retry", screenshot: "only-on-failure" },
});
