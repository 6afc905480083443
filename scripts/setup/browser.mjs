import { aptInstaller } from "./apt.mjs";
import { findBrowser } from "./find-browser.mjs";
import { run, SetupFailed } from "./run.mjs";

/** Finds a Chromium, or gets one: Playwright's, else the distribution's. */
export function provideBrowser(say) {
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
    say(line);
    try {
      get();
    } catch (error) {
      problems.push(error.message);
    }
    if (findBrowser()) return;
  }
  throw new SetupFailed(
    ["the browser tests need Chromium, and it cannot be installed here; install it yourself.", ...problems].join("\n"),
  );
}
