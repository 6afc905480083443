import type { PlaywrightTestConfig } from "@playwright/test";
import { findBrowser } from "../../scripts/setup/browser.mjs";

/** Chromium without its own network requests, and without a sandbox, which containers do not allow. */
export const browser: PlaywrightTestConfig["use"] = {
  browserName: "chromium",
  // The samples that need https have certificates that they created themselves.
  ignoreHTTPSErrors: true,
  // Animations would cost processor time for redrawing.
  contextOptions: { reducedMotion: "reduce" },
  launchOptions: {
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"],
  },
};
