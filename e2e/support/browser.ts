import type { PlaywrightTestConfig } from "@playwright/test";
import { findBrowser } from "../../scripts/setup/find-browser.mjs";

/** Chromium without its own calls to the network, and without a sandbox, which containers do not allow. */
export const browser: PlaywrightTestConfig["use"] = {
  browserName: "chromium",
  launchOptions: {
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"],
  },
};
