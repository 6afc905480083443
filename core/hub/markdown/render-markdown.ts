import { createHash } from "node:crypto";
import type { Root } from "hast";
import { withoutFrontMatter } from "../repos/read-card.ts";
import { layOut, type ToLayOut } from "./lay-out.ts";
import type { MarkdownPlace } from "./place.ts";

export const MARKDOWN_MAX_CHARACTERS = 1024 * 1024;

/** What was laid out lately, the latest last. */
const KEPT_MAX = 500;
const KEPT_MAX_CHARACTERS = 64 * 1024;
/** Of all that is kept: a tree takes some 200 times the memory of its text, where the text is made for that. */
const KEPT_TOGETHER_MAX_CHARACTERS = 1024 * 1024;
/** What takes too long on a busy machine may not do so later. */
const FAILURE_KEPT_MS = 5 * 60 * 1000;

type Kept = ({ tree: Root } | { failedAt: number }) & { characters: number };

const keeper = globalThis as typeof globalThis & { keyhookMarkdown?: Map<string, Kept> };
keeper.keyhookMarkdown ??= new Map();
const kept = keeper.keyhookMarkdown;

/**
 * A Markdown text as a tree of elements that may be shown on our pages, whoever wrote it; without its front matter.
 * @returns undefined for what is too long, too deep or takes too long to be laid out: show the text as it is
 */
export async function renderMarkdown(text: string, place: MarkdownPlace = {}): Promise<Root | undefined> {
  if (text.length > MARKDOWN_MAX_CHARACTERS) return undefined;
  return remembered([place, text], text.length, { text: withoutFrontMatter(text), place });
}

/**
 * Code in the colours of its language, as a tree of elements with classes.
 * @param language one that `lowlight` has among its common ones
 * @returns undefined for what takes too long to be coloured: show it without
 */
export async function renderCode(code: string, language: string): Promise<Root | undefined> {
  return remembered([language, code, "code"], code.length, { code, language });
}

async function remembered(what: unknown[], characters: number, asked: ToLayOut): Promise<Root | undefined> {
  const key = createHash("sha256").update(JSON.stringify(what)).digest("base64");
  const known = kept.get(key);
  if (known && "tree" in known) return known.tree;
  if (known && Date.now() - known.failedAt < FAILURE_KEPT_MS) return undefined;
  const outcome = await layOut(asked);
  if (outcome === "busy") return undefined;
  if (outcome === "too much") {
    keep(key, { failedAt: Date.now(), characters: 0 });
    return undefined;
  }
  if (characters <= KEPT_MAX_CHARACTERS) keep(key, { tree: outcome, characters });
  return outcome;
}

function keep(key: string, one: Kept): void {
  kept.delete(key);
  kept.set(key, one);
  let together = [...kept.values()].reduce((sum, { characters }) => sum + characters, 0);
  for (const [oldest, { characters }] of kept) {
    if (kept.size <= KEPT_MAX && together <= KEPT_TOGETHER_MAX_CHARACTERS) return;
    kept.delete(oldest);
    together -= characters;
  }
}
