import type { PlaywrightTestConfig } from "@playwright/test";
import { findChromium } from "./find-chromium.ts";

/** Chromium without its own calls to the network, and without a sandbox, which containers do not allow. */
export const browser: PlaywrightTestConfig["use"] = {
  browserName: "chromium",
  launchOptions: {
    executablePath: findChromium(),
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"],
  },
};
