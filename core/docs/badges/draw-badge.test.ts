import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { badgeHtml, parseBadgeName } from "./badge-html.ts";
import { badgeColours, badgeSizes, badgeThemes, drawBadge } from "./draw-badge.ts";

const all = badgeSizes.flatMap((size) => badgeThemes.map((theme) => ({ size, theme })));

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.each(badgeThemes)("the text of a %s badge has enough contrast with its background", (theme) => {
  const { ground, ink, edge, mark } = badgeColours[theme];
  expect(contrast(ink, ground)).toBeGreaterThan(4.5);
  for (const line of [edge, mark]) expect(contrast(line, ground)).toBeGreaterThan(3);
});

describe("nothing is cut", () => {
  test.each(all)("$size $theme: there is background between the text and the edge", async ({ size, theme }) => {
    for (const brand of ["Keyhook", "Wðæling & Ångström's «WWWWWWWWWWW» 100 %"]) {
      const { svg, widthPx, heightPx } = drawBadge(brand, size, theme);
      const { data, info } = await sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
      expect([info.width, info.height]).toEqual([widthPx, heightPx]);
      const ground = [1, 3, 5].map((at) => Number.parseInt(badgeColours[theme].ground.slice(at, at + 2), 16));
      const isGround = (x: number) =>
        Array.from({ length: heightPx - 24 }, (_, y) => ((y + 12) * widthPx + x) * info.channels).every((at) =>
          ground.every((value, index) => Math.abs((data[at + index] ?? 0) - value) < 8),
        );
      const columns = Array.from({ length: widthPx - 8 }, (_, x) => isGround(x + 4));
      const right = columns.length - 1 - columns.lastIndexOf(false);
      expect(right).toBeGreaterThanOrEqual(4);
      expect(right).toBeLessThan(24);
    }
  });
});

test("a name in another script is written in the reader's font, fitted to an estimated width", () => {
  const { svg, widthPx } = drawBadge("鍵 <b>", "md", "light");
  expect(svg).toContain("<text");
  expect(svg).toContain("Sign in with 鍵 &lt;b&gt;");
  expect(svg).not.toContain("<b>");
  expect(Number(/textLength="([\d.]+)"/.exec(svg)?.[1])).toBeLessThan(widthPx);
});

test("the HTML has alternative text, and the size of the picture", () => {
  const html = badgeHtml({ origin: "https://hub.example.com", brand: 'A "B"', size: "md" });
  expect(html).toContain('alt="Sign in with A &quot;B&quot;"');
  expect(html).toMatch(/width="\d+"\s+height="40"/);
  for (const [address] of html.matchAll(/sign-in-\w+-\w+\.svg/g)) expect(parseBadgeName(address)).toBeDefined();
  for (const name of ["sign-in-xl-light.svg", "sign-in-md-blue.svg", "../etc", "sign-in-md-light.svg.map"]) {
    expect(parseBadgeName(name)).toBeUndefined();
  }
});
