import { createHash } from "node:crypto";
import type { Root } from "hast";
import { withoutFrontMatter } from "../repos/read-card.ts";
import { layOut } from "./lay-out.ts";
import type { MarkdownPlace } from "./place.ts";

export const MARKDOWN_MAX_CHARACTERS = 1024 * 1024;

/** What was laid out lately, the latest last. */
const KEPT_MAX = 500;
const KEPT_MAX_CHARACTERS = 64 * 1024;
/** What takes too long on a busy machine may not do so later. */
const FAILURE_KEPT_MS = 5 * 60 * 1000;

type Kept = { tree: Root } | { failedAt: number };

const keeper = globalThis as typeof globalThis & { keyhookMarkdown?: Map<string, Kept> };
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
  if (known && "tree" in known) return known.tree;
  if (known && Date.now() - known.failedAt < FAILURE_KEPT_MS) return undefined;
  const outcome = await layOut(withoutFrontMatter(text), place);
  if (outcome === "busy") return undefined;
  if (outcome === "too much") {
    keep(key, { failedAt: Date.now() });
    return undefined;
  }
  if (text.length <= KEPT_MAX_CHARACTERS) keep(key, { tree: outcome });
  return outcome;
}

function keep(key: string, one: Kept): void {
  kept.delete(key);
  kept.set(key, one);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}
