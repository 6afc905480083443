import { posix } from "node:path";
import type { Element, Nodes, Root, Text } from "hast";
import { common } from "lowlight";
import rehypeHighlight from "rehype-highlight";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { type Filling, fillInCode, fillInProse, PLACEHOLDER_ORIGIN } from "./fill-in.ts";
import { guides } from "./guides.ts";

export type GuideHeading = Readonly<{ id: string; text: string; level: 2 | 3 }>;

export type RenderedGuide = Readonly<{
  title: string;
  tree: Root;
  headings: readonly GuideHeading[];
}>;

/** This repository's guides need no sanitizer. Raw HTML is left out, because all of it is comments for the snippet runner. */
export function renderGuide(markdown: string, path: string, filling: Filling): RenderedGuide {
  const guide = parseGuide(markdown, path, filling);
  highlight.runSync(guide.tree);
  fitTables(guide.tree);
  return guide;
}

function fitTables(tree: Root): void {
  const named = (parent: Root | Element, ...names: string[]) =>
    [...elementsOf(parent)].filter(({ tagName }) => names.includes(tagName));
  for (const table of named(tree, "table")) {
    const columns = named(table, "th").map(textOf);
    for (const row of named(table, "tr")) {
      named(row, "td").forEach((cell, index) => {
        cell.properties.dataColumn = columns[index];
      });
    }
    for (const code of named(table, "code")) {
      code.children = code.children.flatMap((child) => (child.type === "text" ? breakable(child.value) : child));
    }
  }
}

function breakable(text: string): Element["children"] {
  const wbr: Element = { type: "element", tagName: "wbr", properties: {}, children: [] };
  return text
    .split(/(?<=\w[./_])(?=\w)/)
    .flatMap((value, index) => [...(index > 0 ? [wbr] : []), { type: "text" as const, value }]);
}

const highlight = unified().use(rehypeHighlight, { languages: common, plainText: ["text", "console", "http"] });

export function parseGuide(markdown: string, path: string, filling: Filling): RenderedGuide {
  const processor = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype, { clobberPrefix: "" })
    .use(() => (tree: Root) => fill(tree, filling))
    .use(() => (tree: Root) => rewriteLinks(tree, path))
    .use(rehypeSlug);
  const tree = processor.runSync(processor.parse(markdown)) as Root;
  const top = tree.children.find((node): node is Element => node.type === "element" && node.tagName === "h1");
  tree.children = tree.children.filter((node) => node !== top && !(node.type === "text" && node.value.trim() === ""));
  const headings = [...elementsOf(tree)].flatMap((element): GuideHeading[] => {
    const level = element.tagName === "h2" ? 2 : element.tagName === "h3" ? 3 : undefined;
    return level ? [{ id: String(element.properties.id), text: textOf(element), level }] : [];
  });
  return { title: top ? textOf(top) : path, tree, headings };
}

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

function rewriteLinks(tree: Root, path: string): void {
  for (const element of elementsOf(tree)) {
    const { href } = element.properties;
    if (element.tagName !== "a" || typeof href !== "string") continue;
    const address = guideAddress(href, path);
    if (address.kind === "source") showSourcePath(element, address.path);
    else element.properties.href = address.href;
    if (address.kind === "elsewhere") element.properties.rel = ["noopener"];
  }
}

function showSourcePath(element: Element, path: string): void {
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

type GuideAddress = { kind: "page" | "elsewhere"; href: string } | { kind: "source"; path: string };

function guideAddress(href: string, from: string): GuideAddress {
  if (href.startsWith("#")) return { kind: "page", href };
  if (href === PLACEHOLDER_ORIGIN || href.startsWith(`${PLACEHOLDER_ORIGIN}/`)) {
    return { kind: "page", href: href.slice(PLACEHOLDER_ORIGIN.length) || "/" };
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { kind: "elsewhere", href };
  const [file = "", hash] = href.split("#");
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, "");
  const target = guides.find((guide) => guide.path === path || guide.path === `${path}/README.md`);
  if (!target) return { kind: "source", path };
  return { kind: "page", href: `/docs/${target.slug}${hash === undefined ? "" : `#${hash}`}` };
}
