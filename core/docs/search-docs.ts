import type { Nodes, RootContent } from "hast";
import { apiDocument } from "../api-document.ts";
import type { Filling } from "./fill-in.ts";
import { guides } from "./guides.ts";
import { readGuide } from "./read-guide.ts";
import { eventsSection, type ReferenceOperation, sectionsOf } from "./reference/api-reference.ts";
import { parseGuide, textOf } from "./render-guide.ts";

type DocsSection = Readonly<{
  href: string;
  page: string;
  heading?: string;
  text: string;
}>;

type DocsResult = Omit<DocsSection, "text"> & Readonly<{ excerpt: ReadonlyArray<{ text: string; isMatch: boolean }> }>;

const RESULTS_MAX = 20;
const WORDS_MAX = 8;
const EXCERPT_CHARACTERS = 220;

let kept: Promise<DocsSection[]> | undefined;

export async function searchDocs(search: string, filling: Filling, others: readonly DocsSection[]): Promise<DocsResult[]> {
  const words = search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const patterns = words.slice(0, WORDS_MAX).map(patternOf);
  if (patterns.length === 0) return [];
  kept ??= sectionsOfGuides(filling).catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
  const all = [...(await kept), ...others, ...operations()];
  return all
    .map((section) => ({ section, score: scoreOf(section, patterns) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, RESULTS_MAX)
    .map(({ section: { text, ...section } }) => ({ ...section, excerpt: excerptOf(text, patterns) }));
}

function patternOf(word: string): string {
  const stem = word.replace(/(?<=..)(?:y|ies|ied|ying|ication)$/, "");
  const rest = stem === word ? word.replace(/(?<=...)(?:e|es|ed|ing|s)$/, "") : `${stem}(?:y|ie[sd]|ication)`;
  return `(?<![\\p{L}\\p{N}])${rest}`;
}

function scoreOf({ page, heading = "", text }: DocsSection, patterns: readonly string[]): number {
  const scores = patterns.map((pattern) => {
    const count = (of: string) => of.match(new RegExp(pattern, "giu"))?.length ?? 0;
    return 10 * count(heading) + 4 * count(page) + Math.min(3, count(text));
  });
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score);
}

function excerptOf(text: string, patterns: readonly string[]): DocsResult["excerpt"] {
  const found = new RegExp(`(?:${patterns.join("|")})[\\p{L}\\p{N}]*`, "giu");
  const start = text.lastIndexOf(" ", Math.max(0, text.search(found) - EXCERPT_CHARACTERS / 3)) + 1;
  const end = text.indexOf(" ", start + EXCERPT_CHARACTERS);
  const part = (start > 0 ? "… " : "") + (end < 0 ? text.slice(start) : `${text.slice(start, end)} …`);
  return part.split(new RegExp(`(${found.source})`, "giu")).map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }));
}

/** Guides are read one after another, so that other requests are answered in between. */
async function sectionsOfGuides(filling: Filling): Promise<DocsSection[]> {
  const all: DocsSection[] = [];
  for (const { slug } of guides) all.push(...(await sectionsOfGuide(slug, filling)));
  return all;
}

async function sectionsOfGuide(slug: string, filling: Filling): Promise<DocsSection[]> {
  const guide = await readGuide(slug);
  if (!guide) return [];
  const { tree, title } = parseGuide(guide.markdown, guide.path, filling);
  const page = guide.label;
  const parts: { href: string; heading?: string; nodes: RootContent[] }[] = [{ href: `/docs/${slug}`, nodes: [] }];
  for (const node of tree.children) {
    if (node.type === "element" && (node.tagName === "h2" || node.tagName === "h3")) {
      parts.push({ href: `/docs/${slug}#${node.properties.id}`, heading: textOf(node), nodes: [] });
    } else if (!isCodeBlock(node)) parts.at(-1)?.nodes.push(node);
  }
  return parts.map(({ nodes, ...part }, index) => {
    const text = nodes.map(proseOf).join(" ").replace(/\s+/g, " ").trim();
    return { ...part, page, text: index === 0 && !title.includes(page) ? `${title}. ${text}` : text };
  });
}

const TABLE_PARTS = new Set(["div", "table", "tbody", "thead"]);

function proseOf(node: Nodes): string {
  if (node.type !== "element") return textOf(node);
  if (TABLE_PARTS.has(node.tagName)) return node.children.map(proseOf).join(" ");
  if (node.tagName !== "tr") return textOf(node);
  const cells = node.children.map(textOf).filter((cell) => cell.trim() !== "");
  return `${cells.join(": ")}.`;
}

const isCodeBlock = (node: RootContent): boolean => node.type === "element" && node.tagName === "pre";

function operations(): DocsSection[] {
  const document = apiDocument();
  if (!document) return [];
  return [...sectionsOf(document), eventsSection(document)].flatMap(({ slug, name, operations }) =>
    operations.map(({ id, method, path, operation: { summary, description } }: ReferenceOperation) => ({
      ...{ href: `/docs/api/${slug}/${id}`, page: `API: ${name}`, heading: summary ?? id },
      text: `${method} ${path} ${description ?? ""}`.trim(),
    })),
  );
}
