import type { Element, ElementContent, Root } from "hast";
import { toParse5 } from "hast-util-to-parse5";
import { type DefaultTreeAdapterTypes, serialize } from "parse5";

/** A page holds it twice: as HTML, and for the scripts that take it over. */
const HTML_MAX_CHARACTERS = 2 * 1024 * 1024;

/**
 * A tree that may be shown as HTML, as every text of HTML is written: by the serialiser of the HTML standard. React would make an object
 * of each element for the page, and another for the browser's scripts: half a second of the event loop for a README of 48,000 nodes.
 * @throws Error for what is too large for a page
 */
export function toHtml(tree: Root): string {
  const html = serialize(toParse5(tree) as DefaultTreeAdapterTypes.ParentNode);
  if (html.length > HTML_MAX_CHARACTERS) throw new Error("too large");
  return html;
}

/** Makes of a sanitised text what its page shows: whatever scrolls is reached with the keyboard, and a ticked box is no control. */
export function drawForPage(parent: Root | Element): void {
  parent.children = (parent.children as ElementContent[]).map((child) => {
    if (child.type !== "element") return child;
    drawForPage(child);
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

// WCAG 2.1.1
const scrolling = (table: Element) =>
  element("div", { role: "group", ariaLabel: "Table", tabIndex: 0, className: ["table-scroll"] }, table);

const taskBox = (isDone: boolean) =>
  element(
    "span",
    { className: isDone ? ["task-box", "task-done"] : ["task-box"] },
    element("span", { className: ["sr-only"] }, { type: "text", value: isDone ? "Done: " : "To do: " }),
  );
