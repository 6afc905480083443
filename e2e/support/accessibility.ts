import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, type Page } from "@playwright/test";
import type * as axeCore from "axe-core";

export const THEMES = ["light", "dark"] as const;
export const WIDTHS = [320, 1440] as const;
const HEIGHT = 900;

/** At the width of a phone, a page shows nearly everything, so axe checks most rules only there. */
export async function expectAccessible(page: Page): Promise<void> {
  // React replaces the title a moment after the rest of the page.
  await expect(page).toHaveTitle(/./);
  await injectAxe(page);
  await forEachLook(page, async ({ theme, width }) => {
    const at = `${page.url()} in ${theme} at ${width} px`;
    if (theme === THEMES[0]) {
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect.soft(overflow, `pixels beyond the right edge of ${at}`).toBe(0);
      if (width === WIDTHS[0]) expect.soft(await findViolationsOfStructure(page), at).toEqual([]);
    }
    expect.soft(await findColorViolations(page), at).toEqual([]);
  });
}

export async function expectAccessibleOnDesktop(page: Page): Promise<void> {
  await injectAxe(page);
  expect(await findViolationsOfStructure(page)).toEqual([]);
}

export async function forEachLook(
  page: Page,
  look: (look: { theme: "light" | "dark"; width: number }) => Promise<void>,
  widths: readonly number[] = WIDTHS,
): Promise<void> {
  const before = page.viewportSize();
  for (const [at, width] of widths.entries()) {
    await page.setViewportSize({ width, height: HEIGHT });
    // Each change of the theme redraws everything, so each width after the first begins with the current theme.
    for (const theme of at % 2 === 0 ? THEMES : THEMES.toReversed()) {
      await page.emulateMedia({ colorScheme: theme });
      await page.evaluate(endAnimations);
      await look({ theme, width });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}

/** axe must not judge the colors in the middle of a change of the theme. */
function endAnimations(): void {
  for (const animation of document.getAnimations()) {
    // An endless animation cannot be finished, only cancelled.
    if (animation.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY) animation.cancel();
    else animation.finish();
  }
}

type Found = { id: string; help: string; nodes: { html: string; target: unknown }[] };

const COLOR_RULES = ["color-contrast", "link-in-text-block"];
/** Colors are checked separately. React may replace the title while axe runs. */
const CHECKED_APART = [...COLOR_RULES, "document-title"];
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Evaluates axe as an expression, which no content security policy forbids. */
async function injectAxe(page: Page): Promise<void> {
  await page.evaluate(source);
}

function findViolationsOfStructure(page: Page): Promise<Found[]> {
  return page.evaluate(async (checkedApart) => {
    const { violations } = await (window as unknown as { axe: typeof axeCore }).axe.run(document, {
      // axe would spend half of its time describing elements that passed.
      resultTypes: ["violations"],
      // axe would parse the style sheets again for a rule that is not used here.
      preload: { assets: ["media"] },
      rules: Object.fromEntries(checkedApart.map((rule) => [rule, { enabled: false }])),
      // The frame of a Space shows a page of the Space's owner, which is not checked.
      iframes: false,
    });
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, target }) => ({ html, target })) }));
  }, CHECKED_APART);
}

/** The contrast rule takes ten times as long as all other rules, so texts with an accepted look are skipped. */
const decided = new Set<string>();

/** How many texts of one look axe may examine: if axe cannot decide one text, it may be able to decide the next. */
const MOST_OF_A_LOOK = 3;

async function findColorViolations(page: Page): Promise<Found[]> {
  readSharedLooks();
  const fresh = (await page.evaluate(readLooks)).filter((look) => !decided.has(look));
  if (fresh.length === 0) return [];
  const { found, unclear } = await page.evaluate(
    async ({ rules, fresh, most }) => {
      const { axe, looks } = window as unknown as Looked & { axe: typeof axeCore };
      const asked = fresh.map((look) => ({ look, elements: looks.get(look)?.slice(0, most) ?? [] }));
      const { violations, incomplete } = await axe.run(
        { include: asked.flatMap(({ elements }) => elements.flatMap((element) => [element, element.closest("a") ?? element])) },
        { runOnly: rules, resultTypes: ["violations", "incomplete"], elementRef: true, iframes: false },
      );
      const undecided = new Set(incomplete.flatMap(({ nodes }) => nodes.map(({ element }) => element)));
      return {
        found: violations.map(({ id, help, nodes }) => ({
          id,
          help,
          nodes: nodes.map(({ html, target }) => ({ html, target })),
        })),
        unclear: asked.filter(({ elements }) => elements.every((element) => undecided.has(element))).map(({ look }) => look),
      };
    },
    { rules: COLOR_RULES, fresh, most: MOST_OF_A_LOOK },
  );
  // If a look fails, nothing is recorded, so that it fails on every page.
  if (found.length === 0) shareLooks(fresh.filter((look) => !unclear.includes(look)));
  return found;
}

type Looked = { looks: Map<string, HTMLElement[]> };

/** Runs in the page. */
function readLooks(): string[] {
  const behind = new Map<Element | null, string>([[null, ""]]);
  const backgroundOf = (element: Element | null): string => {
    const remembered = behind.get(element);
    if (remembered !== undefined || !element) return remembered ?? "";
    const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
    const isAside = position === "absolute" || position === "fixed" ? position : "";
    const faded = opacity === "1" ? "" : `faded ${opacity}`;
    const own = [backgroundColor, backgroundImage, faded, isAside].join().replace("rgba(0, 0, 0, 0),none,,", "");
    const under = backgroundOf(element.parentElement);
    // An opaque background hides what is behind it, unless the element or an ancestor is transparent.
    const isOpaque = backgroundColor.startsWith("rgb(") && backgroundImage === "none" && !faded && !under.includes("faded");
    const text = isOpaque ? own : under + own;
    behind.set(element, text);
    return text;
  };
  const hasText = (element: Element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
  const isShown = (element: Element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
  };
  const fontOf = (element: Element) => {
    const { color, fontSize, fontWeight, fontStyle, textDecorationLine, textShadow, borderBottom } = getComputedStyle(element);
    return [color, fontSize, fontWeight, fontStyle, textDecorationLine, textShadow, borderBottom].join();
  };
  const lookOf = (element: Element) => {
    const isDisabled = element.closest(":disabled, [aria-disabled=true], label:has(:disabled)") !== null;
    // A link has to differ from the text around it.
    const around = element.closest("a")?.parentElement;
    const words = around ? `${hasText(around)} ${fontOf(around)}` : "";
    const kind = element.matches("a, button, input, select, textarea") ? element.tagName : "text";
    return [kind, isDisabled, fontOf(element), words, backgroundOf(element)].join(" | ");
  };
  const looks = new Map<string, HTMLElement[]>();
  for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
    if (!(hasText(element) || element.matches("input, select, textarea")) || !isShown(element)) continue;
    const look = lookOf(element);
    const alike = looks.get(look);
    if (alike) alike.push(element);
    else looks.set(look, [element]);
  }
  Object.assign(window, { looks });
  return [...looks.keys()];
}

/** The workers of a run record accepted looks in this file, one on each line. */
const shared = process.env.KEYHOOK_E2E_LOOKS;
let read = 0;

function readSharedLooks(): void {
  if (!shared || !existsSync(shared)) return;
  const lines = readFileSync(shared, "utf8").slice(read).split("\n");
  // The last line may be incomplete, because another worker may be writing it.
  for (const look of lines.slice(0, -1)) {
    decided.add(look);
    read += look.length + 1;
  }
}

function shareLooks(looks: string[]): void {
  for (const look of looks) decided.add(look);
  if (shared) appendFileSync(shared, looks.map((look) => `${look}\n`).join(""));
}
