import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { aptInstaller } from "./programs.mjs";
import { run, SetupFailed, works } from "./run.mjs";

/**
 * Tries CHROMIUM_PATH, then the machine's own Chromium, then Playwright's downloads. The headless shell comes first: the whole
 * browser renders an invisible window, which takes half a core.
 * @returns {string | undefined} the path of the browser's program
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

export async function provideBrowser(step) {
  if (findBrowser()) return;
  const ways = [
    ["downloading Chromium (playwright install --only-shell)", () => run("playwright", ["install", "--only-shell", "chromium"])],
  ];
  const install = aptInstaller();
  if (install) {
    ways.push([
      "installing Chromium (apt-get install chromium-headless-shell)",
      () => install("chromium-headless-shell", "fonts-liberation"),
    ]);
  }
  const problems = [];
  for (const [line, get] of ways) {
    try {
      await step(line, get);
    } catch (error) {
      problems.push(error.message);
    }
    if (findBrowser()) return;
  }
  throw new SetupFailed(
    ["the browser tests need Chromium, and it cannot be installed here; install it yourself.", ...problems].join("\n"),
  );
}
