import type { Element, Nodes, Root } from "hast";
import type { Schema } from "hast-util-sanitize";
import { common } from "lowlight";
import rehypeHighlight from "rehype-highlight";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { DEFAULT_ID_PREFIX, type MarkdownContext, resolveAddresses } from "./resolve-addresses.ts";

const DEPTH_MAX = 100;
const NODES_MAX = 50_000;
/** A short text can repeat one long URL a thousand times. */
const CHARACTERS_MAX = 4 * 1024 * 1024;
const HIGHLIGHTED_MAX_CHARACTERS = 50_000;

/**
 * Steps after the sanitizer must add nothing unsafe.
 * @throws Error if the tree is too large or too deep
 */
export function toSafeTree(text: string, context: MarkdownContext): Root {
  const { idPrefix = DEFAULT_ID_PREFIX } = context;
  const processor = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: "" })
    .use(() => requireBounded)
    .use(rehypeRaw)
    .use(rehypeSanitize, schemaOf(idPrefix))
    .use(() => (tree: Root) => resolveAddresses(tree, context))
    .use(rehypeSlug, { prefix: idPrefix })
    .use(() => lowerHeadings)
    .use(() => leaveLongCodePlain)
    .use(rehypeHighlight, { languages: common })
    .use(() => requireBounded)
    .use(() => dropPositions);
  return processor.runSync(processor.parse(text)) as Root;
}

function lowerHeadings(tree: Root): void {
  for (const element of elementsOf(tree)) {
    const level = /^h([1-5])$/.exec(element.tagName)?.[1];
    if (level && element.properties.className === undefined) element.tagName = `h${Number(level) + 1}`;
  }
}

function leaveLongCodePlain(tree: Root): void {
  let left = HIGHLIGHTED_MAX_CHARACTERS;
  for (const element of elementsOf(tree)) {
    if (element.tagName !== "code" || element.properties.className === undefined) continue;
    left -= element.children.reduce((sum, child) => sum + (child.type === "text" ? child.value.length : 0), 0);
    if (left < 0) delete element.properties.className;
  }
}

function requireBounded(tree: Root): void {
  let nodes = 0;
  let characters = 0;
  for (const { node, depth } of nodesOf(tree)) {
    nodes += 1;
    if ("value" in node) characters += node.value.length;
    if (node.type === "element") for (const value of Object.values(node.properties)) characters += String(value).length;
    if (depth > DEPTH_MAX || nodes > NODES_MAX || characters > CHARACTERS_MAX) throw new Error("too large or too deep");
  }
}

/** Positions are unused, and take most of the result's size. */
function dropPositions(tree: Root): void {
  for (const { node } of nodesOf(tree)) {
    delete node.position;
    delete node.data;
  }
}

function* elementsOf(tree: Root): Generator<Element> {
  for (const { node } of nodesOf(tree)) if (node.type === "element") yield node;
}

/** Does not use recursion, because trees may be deeper than the stack. */
function* nodesOf(tree: Root): Generator<{ node: Nodes; depth: number }> {
  const waiting: { node: Nodes; depth: number }[] = [{ node: tree, depth: 0 }];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    yield one;
    if (!("children" in one.node)) continue;
    for (const node of one.node.children) waiting.push({ node, depth: one.depth + 1 });
  }
}

function schemaOf(idPrefix: string): Schema {
  const aligned = ["align"];
  return {
    tagNames: [
      ...["h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre", "code", "ul", "ol", "li"],
      ...[
        "a",
        "img",
        "input",
        "section",
        "details",
        "summary",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
      ],
      ...[
        "em",
        "strong",
        "b",
        "i",
        "u",
        "s",
        "del",
        "ins",
        "mark",
        "small",
        "sub",
        "sup",
        "kbd",
        "samp",
        "var",
        "q",
        "abbr",
        "cite",
      ],
      ...["ruby", "rt", "rp", "figure", "figcaption", "center"],
    ],
    attributes: {
      "*": ["id", "title", "lang", "dir"],
      a: ["href", "ariaLabel", "ariaDescribedBy", "dataFootnoteRef", "dataFootnoteBackref"],
      img: ["src", "alt", "width", "height", "align"],
      input: [["type", "checkbox"], ["disabled", true], "checked"],
      code: [["className", /^language-[\w+#.-]{1,30}$/]],
      h2: [["className", "sr-only"], "align"],
      ...Object.fromEntries(["h1", "h3", "h4", "h5", "h6", "p", "div", "tr"].map((name) => [name, aligned])),
      th: ["align", "colSpan", "rowSpan"],
      td: ["align", "colSpan", "rowSpan"],
      li: [["className", "task-list-item"]],
      ul: [["className", "contains-task-list"]],
      ol: ["start", ["className", "contains-task-list"]],
      details: ["open"],
      section: ["dataFootnotes"],
    },
    // Outside of its parent, the element could close an element of the page.
    ancestors: {
      ...Object.fromEntries(["thead", "tbody", "tfoot", "tr", "th", "td"].map((name) => [name, ["table"]])),
      li: ["ul", "ol"],
      dt: ["dl"],
      dd: ["dl"],
    },
    required: { input: { disabled: true, type: "checkbox" } },
    protocols: { href: ["http", "https", "mailto"], src: ["http", "https"] },
    // Otherwise an ID could replace one of the page's, or a property of `document`.
    clobber: ["id", "name", "ariaDescribedBy", "ariaLabelledBy"],
    clobberPrefix: idPrefix,
    strip: ["script", "style", "template", "noscript", "iframe", "object", "title", "textarea", "select", "svg", "math"],
  };
}
