import type { PlaywrightTestConfig } from "@playwright/test";
import { findBrowser } from "../../scripts/setup/find-browser.mjs";

/** Chromium without its own calls to the network, and without a sandbox, which containers do not allow. */
export const browser: PlaywrightTestConfig["use"] = {
  browserName: "chromium",
  // The samples that need https made their certificates themselves. The service is not among them.
  ignoreHTTPSErrors: true,
  // What moves is drawn again and again, and nobody watches.
  contextOptions: { reducedMotion: "reduce" },
  launchOptions: {
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"],
  },
};
