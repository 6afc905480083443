import { expect, type Page } from "@playwright/test";
import { findColourViolations, findViolationsOfStructure, injectAxe } from "./axe.ts";

export const THEMES = ["light", "dark"] as const;
export const WIDTHS = [320, 1440] as const;
const HEIGHT = 900;

/**
 * Asserts that nothing sticks out sideways at either width, that axe finds all colours well in both themes, and all else at one width: on
 * a telephone, where everything is shown but some links of the header and columns of lists, and where what does not fit has to scroll.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await injectAxe(page);
  await forEachLook(page, async ({ theme, width }) => {
    const at = `${page.url()} in ${theme} at ${width} px`;
    if (theme === THEMES[0]) {
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect.soft(overflow, `pixels beyond the right edge of ${at}`).toBe(0);
      if (width === WIDTHS[0]) expect.soft(await findViolationsOfStructure(page), at).toEqual([]);
    }
    expect.soft(await findColourViolations(page), at).toEqual([]);
  });
}

/** Asserts the same of what only a desk shows. */
export async function expectAccessibleOnDesk(page: Page): Promise<void> {
  await injectAxe(page);
  expect(await findViolationsOfStructure(page)).toEqual([]);
}

/** Shows the page in each theme and width, and then as it was. */
export async function forEachLook(
  page: Page,
  look: (look: { theme: "light" | "dark"; width: number }) => Promise<void>,
): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    // Each change of the theme draws everything anew: the second width begins with that of before.
    for (const theme of width === WIDTHS[0] ? THEMES : THEMES.toReversed()) {
      await page.emulateMedia({ colorScheme: theme });
      await page.evaluate(endAnimations);
      await look({ theme, width });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}

/** Colours that are still on their way to the other theme are not what people see. */
function endAnimations(): void {
  for (const animation of document.getAnimations()) {
    // What goes on for ever has no end to go to; what is folded away never gets to its own.
    if (animation.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY) animation.cancel();
    else animation.finish();
  }
}
