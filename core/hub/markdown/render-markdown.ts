import { createHash } from "node:crypto";
import type { Root } from "hast";
import { withoutFrontMatter } from "../repos/read-card.ts";
import { layOut } from "./lay-out.ts";
import type { MarkdownPlace } from "./place.ts";

export const MARKDOWN_MAX_CHARACTERS = 1024 * 1024;

/** What was laid out lately, the latest last; null for what could not be. */
const KEPT_MAX = 500;
const KEPT_MAX_CHARACTERS = 64 * 1024;

const keeper = globalThis as typeof globalThis & { keyhookMarkdown?: Map<string, Root | null> };
keeper.keyhookMarkdown ??= new Map();
const kept = keeper.keyhookMarkdown;

/**
 * A Markdown text as a tree of elements that may be shown on our pages, whoever wrote it; without its front matter.
 * @returns undefined for what is too long, too deep or takes too long to be laid out: show the text as it is
 */
export async function renderMarkdown(text: string, place: MarkdownPlace = {}): Promise<Root | undefined> {
  if (text.length > MARKDOWN_MAX_CHARACTERS) return undefined;
  const key = createHash("sha256")
    .update(JSON.stringify([place, text]))
    .digest("base64");
  const known = kept.get(key);
  const tree = known === undefined ? await layOut(withoutFrontMatter(text), place) : known;
  if (tree === null || text.length <= KEPT_MAX_CHARACTERS) keep(key, tree);
  return tree ?? undefined;
}

function keep(key: string, tree: Root | null): void {
  kept.delete(key);
  kept.set(key, tree);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}
