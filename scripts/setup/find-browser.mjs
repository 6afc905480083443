import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { works } from "./run.mjs";

/**
 * A Chromium that starts on this machine, for the browser tests; undefined when there is none. The one that CHROMIUM_PATH
 * names comes first, then the machine's own, then those that Playwright has downloaded. Of each the headless shell comes first, which
 * is what Playwright itself takes: the whole browser draws a window of its own that nobody sees, on half of a core.
 * @returns {string | undefined} the path of its program
 */
export function findBrowser() {
  return candidates().find((path) => existsSync(path) && works(path));
}

function candidates() {
  const own = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].flatMap(
    (name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`],
  );
  const chosen = process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : [];
  return [...chosen, ...own, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", ...downloaded()];
}

function downloaded() {
  const cache =
    process.env.PLAYWRIGHT_BROWSERS_PATH ||
    join(homedir(), process.platform === "darwin" ? "Library/Caches/ms-playwright" : ".cache/ms-playwright");
  if (!existsSync(cache)) return [];
  return readdirSync(cache)
    .filter((name) => /^chromium(_headless_shell)?-/.test(name))
    .sort((one, other) => Number(other.includes("headless")) - Number(one.includes("headless")) || (one < other ? 1 : -1))
    .flatMap((name) => [
      join(cache, name, "chrome-headless-shell-linux64/chrome-headless-shell"),
      join(cache, name, "chrome-linux/headless_shell"),
      join(cache, name, "chrome-mac/headless_shell"),
      join(cache, name, "chrome-linux64/chrome"),
      join(cache, name, "chrome-linux/chrome"),
      join(cache, name, "chrome-mac/Chromium.app/Contents/MacOS/Chromium"),
    ]);
}
