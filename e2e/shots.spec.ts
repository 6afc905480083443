import type { Locator, Page } from "@playwright/test";
import sharp from "sharp";
import { test } from "./fixtures.ts";
import { forEachLook, WIDTHS } from "./support/accessibility.ts";
import { screens } from "./support/screens.ts";

const landing: Readonly<Record<string, { part: (page: Page) => Locator; width: number; height: number }>> = {
  consent: { part: (page) => page.locator("main"), width: 480, height: 625 },
};

const widths = process.env.SHOTS_WIDTHS?.split(",").map(Number) ?? WIDTHS;

for (const { name, open } of screens) {
  test(name, async ({ page, demo, newcomer }) => {
    await open({ page, demo, newcomer });
    const look = async ({ theme, width }: { theme: string; width: number }) => {
      await page.screenshot({ path: `shots/${name}-${width}-${theme}.png`, fullPage: true });
      const shown = landing[name];
      if (!shown || width < 1000) return;
      const picture = sharp(await shown.part(page).screenshot());
      await picture
        .resize({ width: shown.width, height: shown.height, fit: "cover", position: "top" })
        .webp({ quality: 82 })
        .toFile(`public/landing/${name}-${theme}.webp`);
    };
    await forEachLook(page, look, widths);
  });
}
