import type { PlaywrightTestConfig } from "@playwright/test";
import { findBrowser } from "../../scripts/setup/browser.mjs";

/** Chromium without its own network requests, and without a sandbox, which containers do not allow. */
export const browser: PlaywrightTestConfig["use"] = {
  browserName: "chromium",
  // The samples that need https created their certificates themselves. The service does not.
  ignoreHTTPSErrors: true,
  // Animations redraw all the time, and nobody watches.
  contextOptions: { reducedMotion: "reduce" },
  launchOptions: {
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"],
  },
};
