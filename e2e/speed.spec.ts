import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";

/** The compressed size without headers, of which React and Next are 115 kB. This size is the same on every machine. */
const SCRIPT_MAX_BYTES = { "/": 125_000, "/models": 127_000, "/docs/webhooks": 127_000, "/login": 126_000 };

async function scriptBytes(page: Page, path: string): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script") sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(path, { waitUntil: "networkidle" });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

for (const [path, most] of Object.entries(SCRIPT_MAX_BYTES)) {
  test(`the scripts of ${path} are small`, async ({ page }) => {
    const bytes = await scriptBytes(page, path);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(most);
  });
}

test("scripts and style sheets are sent as the build has compressed them", async ({ page, request }) => {
  await page.goto("/");
  const files = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLLinkElement | HTMLScriptElement>("link[rel=stylesheet], script[src]")].map(
      (one) => one.getAttribute("href") ?? one.getAttribute("src") ?? "",
    ),
  );
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const [small, plain] = await Promise.all(
      ["gzip, br", "identity"].map((encoding) => request.get(file, { headers: { "accept-encoding": encoding } })),
    );
    expect([file, small?.headers()["content-encoding"]]).toEqual([file, "br"]);
    expect(small?.headers()["content-type"]).toMatch(file.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
    expect(small?.headers()["cache-control"]).toContain("immutable");
    expect(await small?.text()).toBe(await plain?.text());
  }
});

test("the start of the API reference and two of its longer lists have fewer than 2,000 elements", async ({ page }) => {
  for (const path of ["/docs/api", "/docs/api/webhooks", "/docs/api/events"]) {
    await page.goto(path);
    expect([path, (await page.locator("*").count()) < 2_000]).toEqual([path, true]);
  }
});

test("text is as wide in the fallback font as in the page's font, so that nothing moves later", async ({ page }) => {
  await page.goto("/docs/webhooks");
  const widths = await page.evaluate(async () => {
    const text = [...document.querySelectorAll("main p")].map((one) => one.textContent).join(" ");
    const canvas = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
    const measure = async (font: string) => {
      const faces = await document.fonts.load(font, text).catch(() => []);
      canvas.font = font;
      return faces.length > 0 ? canvas.measureText(text).width : undefined;
    };
    // Some systems round the width of small letters to whole pixels.
    const pairs: [string, string, string][] = [
      ["400 300px", "Inter Variable", "Inter Fallback"],
      ["600 300px", "Inter Variable", "Inter Fallback"],
      ["400 300px", "JetBrains Mono Variable", "JetBrains Mono Fallback"],
    ];
    return Promise.all(
      pairs.map(async ([size, ours, other]) => [await measure(`${size} "${ours}"`), await measure(`${size} "${other}"`)]),
    );
  });
  for (const [ours = 0, fallback] of widths) {
    // On a machine without Arial and Liberation there is no fallback font to measure.
    if (fallback !== undefined) expect(Math.abs(fallback / ours - 1)).toBeLessThan(0.02);
  }
});
