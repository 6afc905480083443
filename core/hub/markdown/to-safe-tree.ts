import type { Element, Nodes, Root } from "hast";
import { common } from "lowlight";
import rehypeHighlight from "rehype-highlight";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { DEFAULT_ID_PREFIX, type MarkdownPlace } from "./place.ts";
import { resolveAddresses } from "./resolve-addresses.ts";
import { schemaOf } from "./schema.ts";

const DEPTH_MAX = 100;
const NODES_MAX = 50_000;
/** Of what is drawn: a short text can name one long address a thousand times. */
const CHARACTERS_MAX = 4 * 1024 * 1024;
const HIGHLIGHTED_MAX_CHARACTERS = 50_000;

/**
 * Markdown (GFM, with raw HTML) as a tree of what may be shown. Only what follows the sanitiser may add to it: links are resolved,
 * headings get ids, code gets colours. It can take very long on texts made for that; render-markdown.ts gives it a limit.
 * @throws Error where the tree is too large or too deep to be drawn
 */
export function toSafeTree(text: string, place: MarkdownPlace): Root {
  const { idPrefix = DEFAULT_ID_PREFIX } = place;
  const processor = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: "" })
    .use(() => requireBounded)
    .use(rehypeRaw)
    .use(rehypeSanitize, schemaOf(idPrefix))
    .use(() => (tree: Root) => resolveAddresses(tree, place))
    .use(rehypeSlug, { prefix: idPrefix })
    .use(() => lowerHeadings)
    .use(() => leaveLongCodePlain)
    .use(rehypeHighlight, { languages: common })
    .use(() => requireBounded)
    .use(() => dropPositions);
  return processor.runSync(processor.parse(text)) as Root;
}

/** The page around it has the `h1`. */
function lowerHeadings(tree: Root): void {
  for (const element of elementsOf(tree)) {
    const level = /^h([1-5])$/.exec(element.tagName)?.[1];
    if (level && element.properties.className === undefined) element.tagName = `h${Number(level) + 1}`;
  }
}

/** Nobody reads that much code in a text, and colouring it costs more than the rest together. */
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

/** Where each piece stood in the text: nobody needs it, and it is most of what would be handed over. */
function dropPositions(tree: Root): void {
  for (const { node } of nodesOf(tree)) {
    delete node.position;
    delete node.data;
  }
}

function* elementsOf(tree: Root): Generator<Element> {
  for (const { node } of nodesOf(tree)) if (node.type === "element") yield node;
}

/** Every node and how deep it stands, without recursion: trees may be deeper than the stack. */
function* nodesOf(tree: Root): Generator<{ node: Nodes; depth: number }> {
  const waiting: { node: Nodes; depth: number }[] = [{ node: tree, depth: 0 }];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    yield one;
    if (!("children" in one.node)) continue;
    for (const node of one.node.children) waiting.push({ node, depth: one.depth + 1 });
  }
}
