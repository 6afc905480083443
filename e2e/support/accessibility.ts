import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

export const THEMES = ["light", "dark"] as const;
export const WIDTHS = [320, 1440] as const;
const HEIGHT = 900;
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Asserts that axe finds nothing, and nothing sticks out sideways, in both themes and at both widths. */
export async function expectAccessible(page: Page): Promise<void> {
  await forEachLook(page, async ({ theme, width }) => {
    const { violations } = await axe(page, theme).analyze();
    const found = violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(({ html, target }) => ({ html, target })),
    }));
    expect.soft(found, `${page.url()} in ${theme} at ${width} px`).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect.soft(overflow, `pixels beyond the right edge of ${page.url()} at ${width} px`).toBe(0);
  });
}

/**
 * A theme changes colours and nothing else: what has to do with them is looked at in both, all the rest in one. No frames of other
 * origins are ever on a page of ours, for which axe would otherwise open a page of its own each time.
 */
function axe(page: Page, theme: (typeof THEMES)[number]): AxeBuilder {
  // Describing each element that passed takes axe half of its time, and nobody reads it; of what fails nothing is left out.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] });
  return theme === THEMES[0] ? builder : builder.withRules(COLOUR_RULES);
}

/** Shows the page in each theme and width, and then as it was. */
export async function forEachLook(
  page: Page,
  look: (look: { theme: "light" | "dark"; width: number }) => Promise<void>,
): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.evaluate(endAnimations);
      await look({ theme, width });
    }
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
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
