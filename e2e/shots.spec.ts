import { test } from "./fixtures.ts";
import { forEachLook } from "./support/accessibility.ts";
import { screens } from "./support/screens.ts";

for (const { name, open } of screens) {
  test(name, async ({ page, demo, newcomer }) => {
    await open({ page, demo, newcomer });
    await forEachLook(page, async ({ theme, width }) => {
      await page.screenshot({ path: `shots/${name}-${width}-${theme}.png`, fullPage: true });
    });
  });
}
