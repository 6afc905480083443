import { existsSync } from "node:fs";

const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** CHROMIUM_PATH, or a Chromium that this machine has; undefined leaves it to the one that Playwright has downloaded. */
export function findChromium(): string | undefined {
  return process.env.CHROMIUM_PATH || INSTALLED.find((path) => existsSync(path));
}
