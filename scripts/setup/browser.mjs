import { findBrowser } from "./find-browser.mjs";
import { run, SetupFailed, works } from "./run.mjs";

/** Finds a Chromium, or gets one: Playwright's, else the distribution's. */
export function provideBrowser(say) {
  if (findBrowser()) return;
  const ways = [["downloading Chromium (playwright install)", () => run("playwright", ["install", "chromium"])]];
  if (works("apt-get")) {
    const isRoot = process.getuid?.() === 0;
    const apt = (...args) => (isRoot ? run("apt-get", args, apt.env) : run("sudo", ["-n", "apt-get", ...args], apt.env));
    apt.env = { DEBIAN_FRONTEND: "noninteractive" };
    ways.push([
      "installing Chromium (apt-get install chromium)",
      () => {
        apt("update");
        apt("install", "-y", "--no-install-recommends", "chromium", "fonts-liberation");
      },
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
