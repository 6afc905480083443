import type { Element, ElementContent, Root } from "hast";
import { toParse5 } from "hast-util-to-parse5";
import { common, createLowlight } from "lowlight";
import { type DefaultTreeAdapterTypes, serialize } from "parse5";
import { answerInSubprocess } from "../../subprocesses/answer-in-subprocess.ts";
import { withoutFrontMatter } from "../repos/front-matter.ts";
import type { MarkdownContext } from "./resolve-addresses.ts";
import { toSafeTree } from "./to-safe-tree.ts";

/** Runs in a subprocess, because short texts can keep a parser busy for hours. */
export type RenderRequest = { text: string; context: MarkdownContext } | { code: string; language: string };

const lowlight = createLowlight(common);

answerInSubprocess((request: RenderRequest): string => {
  if ("code" in request) return toHtml(lowlight.highlight(request.language, request.code), request.code);
  const tree = toSafeTree(withoutFrontMatter(request.text), request.context);
  adaptForPage(tree);
  return toHtml(tree, request.text);
});

/** A page contains the HTML twice: in the document, and for hydration. */
const HTML_MAX_CHARACTERS = 2 * 1024 * 1024;
/** Colors make dense code forty times as long. A page may have a hundred short texts, each of which repeats a long URL (S137). */
const HTML_PER_CHARACTER = 64;
const SHORT_HTML_CHARACTERS = 16 * 1024;

/**
 * Returns one text, because React would create an object for each element and block the event loop.
 * @throws Error if the HTML is too large for a page
 */
function toHtml(tree: Root, source: string): string {
  const html = serialize(toParse5(tree) as DefaultTreeAdapterTypes.ParentNode);
  const most = Math.min(HTML_MAX_CHARACTERS, SHORT_HTML_CHARACTERS + source.length * HTML_PER_CHARACTER);
  if (html.length > most) throw new Error("too large");
  return html;
}

/** The keyboard must reach every scrolling region (WCAG 2.1.1). */
function adaptForPage(parent: Root | Element): void {
  parent.children = (parent.children as ElementContent[]).map((child) => {
    if (child.type !== "element") return child;
    adaptForPage(child);
    if (child.tagName === "pre") child.properties.tabIndex = 0;
    if (child.tagName === "table") return scrolling(child);
    if (child.tagName === "input") return taskBox(child.properties.checked === true);
    return child;
  });
}

const element = (tagName: string, properties: Element["properties"], ...children: ElementContent[]): Element => ({
  type: "element",
  tagName,
  properties,
  children,
});

const scrolling = (table: Element) =>
  element("div", { role: "group", ariaLabel: "Table", tabIndex: 0, className: ["table-scroll"] }, table);

const taskBox = (isDone: boolean) =>
  element(
    "span",
    { className: isDone ? ["task-box", "task-done"] : ["task-box"] },
    element("span", { className: ["sr-only"] }, { type: "text", value: isDone ? "Done: " : "To do: " }),
  );
