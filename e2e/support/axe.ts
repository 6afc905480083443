import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import type * as axe from "axe-core";

/** What axe found, as far as one needs it to mend the page. */
export type Found = { id: string; help: string; nodes: { html: string; target: unknown }[] };

const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Once a page; as an expression, which no policy of the page forbids. */
export async function injectAxe(page: Page): Promise<void> {
  await page.evaluate(source);
}

export function findViolationsOfStructure(page: Page): Promise<Found[]> {
  return page.evaluate(async (colourRules) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      // Describing each element that passed takes axe half of its time, and nobody reads it; of what fails nothing is left out.
      resultTypes: ["violations"],
      rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])),
      // What a Space shows in its frame is its owner's.
      iframes: false,
    });
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, target }) => ({ html, target })) }));
  }, COLOUR_RULES);
}

/**
 * All that the contrast of a text depends on, of each text for which axe has come to a decision in this process. Contrast takes axe
 * ten times as long as all its other rules, and pages are made of the same components: of a text whose colours, backgrounds, size and
 * weight it has seen before there is nothing new to be found.
 */
const decided = new Set<string>();

export async function findColourViolations(page: Page): Promise<Found[]> {
  const { found, looks } = await page.evaluate(
    async ({ rules, known }) => {
      const behind = new Map<Element | null, string>([[null, ""]]);
      /** What is painted behind an element's text, from the page to the element itself. */
      const backgroundOf = (element: Element | null): string => {
        const remembered = behind.get(element);
        if (remembered !== undefined || !element) return remembered ?? "";
        const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
        const isAside = position === "absolute" || position === "fixed" ? position : "";
        const own = [backgroundColor, backgroundImage, opacity, isAside].join().replace("rgba(0, 0, 0, 0),none,1,", "");
        const text = backgroundOf(element.parentElement) + own;
        behind.set(element, text);
        return text;
      };
      const hasText = (element: Element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
      const isShown = (element: Element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
      };
      const fontOf = (element: Element) => {
        const { color, fontSize, fontWeight, fontStyle, textDecorationLine, textShadow, borderBottom } =
          getComputedStyle(element);
        return [color, fontSize, fontWeight, fontStyle, textDecorationLine, textShadow, borderBottom].join();
      };
      const lookOf = (element: Element) => {
        const isDisabled = element.closest(":disabled, [aria-disabled=true], label:has(:disabled)") !== null;
        // A link has to stand out from the text around it.
        const around = element.closest("a")?.parentElement;
        const words = around ? `${hasText(around)} ${fontOf(around)}` : "";
        return [element.tagName, isDisabled, fontOf(element), words, backgroundOf(element)].join(" | ");
      };

      const seen = new Set(known);
      const fresh = new Map<Element, string>();
      for (const element of document.body.querySelectorAll("*")) {
        if (!(hasText(element) || element.matches("input, select, textarea")) || !isShown(element)) continue;
        const look = lookOf(element);
        if (!seen.has(look)) fresh.set(element, look);
      }
      if (fresh.size === 0) return { found: [], looks: [] };
      const { violations, incomplete } = await (window as unknown as { axe: typeof axe }).axe.run(
        { include: [...fresh.keys()].flatMap((element) => [element, element.closest("a") ?? element]) },
        { runOnly: rules, resultTypes: ["violations", "incomplete"], elementRef: true, iframes: false },
      );
      // Where axe cannot tell, the next of its kind may be clearer.
      for (const { element } of incomplete.flatMap(({ nodes }) => nodes)) if (element) fresh.delete(element);
      const found = violations.map(({ id, help, nodes }) => ({
        id,
        help,
        nodes: nodes.map(({ html, target }) => ({ html, target })),
      }));
      return { found, looks: [...new Set(fresh.values())] };
    },
    { rules: COLOUR_RULES, known: [...decided] },
  );
  // What is wrong here is wrong elsewhere too, and is said each time.
  if (found.length === 0) for (const look of looks) decided.add(look);
  return found;
}
