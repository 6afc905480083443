import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import type * as axeCore from "axe-core";

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
    const { violations } = await (window as unknown as { axe: typeof axeCore }).axe.run(document, {
      // Describing each element that passed takes axe half of its time, and nobody reads it; of what fails nothing is left out.
      resultTypes: ["violations"],
      // The other kind, style sheets read once more, is for a rule that is not among these.
      preload: { assets: ["media"] },
      rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])),
      // What a Space shows in its frame is its owner's.
      iframes: false,
    });
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, target }) => ({ html, target })) }));
  }, COLOUR_RULES);
}

/**
 * All that the contrast of a text depends on, of each text for which axe has come to a decision in this run. Contrast takes axe
 * ten times as long as all its other rules, and pages are made of the same components: of a text whose colours, backgrounds, size and
 * weight it has seen before there is nothing new to be found.
 */
const decided = new Set<string>();

/** How many texts of the same look on a page axe is asked about: where it cannot tell, the next one may be clearer. */
const MOST_OF_A_LOOK = 3;

export async function findColourViolations(page: Page): Promise<Found[]> {
  learnFromOthers();
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
    { rules: COLOUR_RULES, fresh, most: MOST_OF_A_LOOK },
  );
  // What is wrong here is wrong elsewhere too, and is said each time.
  if (found.length === 0) tellOthers(fresh.filter((look) => !unclear.includes(look)));
  return found;
}

type Looked = { looks: Map<string, HTMLElement[]> };

/** Keeps the texts of the page by their look, for axe. Runs in the page. @returns the looks */
function readLooks(): string[] {
  const behind = new Map<Element | null, string>([[null, ""]]);
  /** What is painted behind an element's text, from the page to the element itself. */
  const backgroundOf = (element: Element | null): string => {
    const remembered = behind.get(element);
    if (remembered !== undefined || !element) return remembered ?? "";
    const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
    const isAside = position === "absolute" || position === "fixed" ? position : "";
    const faded = opacity === "1" ? "" : `faded ${opacity}`;
    const own = [backgroundColor, backgroundImage, faded, isAside].join().replace("rgba(0, 0, 0, 0),none,,", "");
    const under = backgroundOf(element.parentElement);
    // Nothing shows through what is opaque, unless an element around it fades with all that is in it.
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
    // A link has to stand out from the text around it.
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

/** Where the workers of a run write what they have decided, a line for each look, so that none decides it again. */
const shared = process.env.KEYHOOK_E2E_LOOKS;
let read = 0;

function learnFromOthers(): void {
  if (!shared || !existsSync(shared)) return;
  const lines = readFileSync(shared, "utf8").slice(read).split("\n");
  // Somebody may be in the middle of the last one.
  for (const look of lines.slice(0, -1)) {
    decided.add(look);
    read += look.length + 1;
  }
}

function tellOthers(looks: string[]): void {
  for (const look of looks) decided.add(look);
  if (shared) appendFileSync(shared, looks.map((look) => `${look}\n`).join(""));
}
