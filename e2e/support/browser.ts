import type { PlaywrightTestConfig } from "@playwright/test";
import { findBrowser } from "../../scripts/setup/browser.mjs";

/** Containers do not allow Chromium's sandbox. */
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
