import type { Element, Nodes, Root, Text } from "hast";
import { common } from "lowlight";
import rehypeHighlight from "rehype-highlight";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { type Filling, fillInCode, fillInProse } from "./fill-in.ts";
import { guideAddress } from "./guide-address.ts";

export type GuideHeading = Readonly<{ id: string; text: string; level: 2 | 3 }>;

export type RenderedGuide = Readonly<{
  title: string;
  /** Everything below the title. Each `pre` carries its code as plain text for copying. */
  tree: Root;
  headings: readonly GuideHeading[];
}>;

/**
 * Renders one of the project's own guides as a tree of elements, filled in for one reader. Its text is ours and needs no sanitiser (others'
 * texts go through core/hub/markdown); raw HTML, which is comments for the snippet runner, is left out.
 */
export function renderGuide(markdown: string, path: string, filling: Filling): RenderedGuide {
  const processor = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype, { clobberPrefix: "" })
    .use(() => (tree: Root) => fill(tree, filling))
    .use(() => (tree: Root) => leadLinks(tree, path))
    .use(rehypeSlug)
    .use(rehypeHighlight, { languages: common, plainText: ["text", "console", "http"] });
  const tree = processor.runSync(processor.parse(markdown)) as Root;
  const top = tree.children.find((node): node is Element => node.type === "element" && node.tagName === "h1");
  tree.children = tree.children.filter((node) => node !== top && !(node.type === "text" && node.value.trim() === ""));
  const headings = [...elementsOf(tree)].flatMap((element): GuideHeading[] => {
    const level = element.tagName === "h2" ? 2 : element.tagName === "h3" ? 3 : undefined;
    return level ? [{ id: String(element.properties.id), text: textOf(element), level }] : [];
  });
  return { title: top ? textOf(top) : path, tree, headings };
}

/** The text of an element, without markup. */
export function textOf(node: Nodes): string {
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

function fill(parent: Root | Element, filling: Filling, isCode = false): void {
  for (const child of parent.children) {
    if (child.type === "text") child.value = isCode ? fillInCode(child.value, filling) : fillInProse(child.value, filling);
    if (child.type === "element") fill(child, filling, isCode || child.tagName === "code");
  }
}

function leadLinks(tree: Root, path: string): void {
  for (const element of elementsOf(tree)) {
    const { href } = element.properties;
    if (element.tagName !== "a" || typeof href !== "string") continue;
    const address = guideAddress(href, path);
    if (address.kind === "source") nameSource(element, address.path);
    else element.properties.href = address.href;
    if (address.kind === "elsewhere") element.properties.rel = ["noopener"];
  }
}

/** Files that only readers with the source code have: named, not linked. */
function nameSource(element: Element, path: string): void {
  const isNamed = textOf(element).includes(path);
  const where: Text = { type: "text", value: `${path} in the source` };
  element.tagName = "span";
  element.properties = {};
  if (!isNamed) element.children = [...element.children, { type: "text", value: " (" }, where, { type: "text", value: ")" }];
}

function* elementsOf(parent: Root | Element): Generator<Element> {
  for (const child of parent.children) {
    if (child.type !== "element") continue;
    yield child;
    yield* elementsOf(child);
  }
}
