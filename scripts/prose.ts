import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { phrases, screenPhrases } from "./prose/phrases.ts";

/** Finds phrases of translated English (decision 086). Ignores code, quotations, and text in italics, which quotes the screen. */
const ROOT = join(import.meta.dirname, "..");
const CODE = "{app,pages,api,core,worker,server,packages,scripts,e2e,bench,examples}";
const STRINGS = "docs/strings.txt";
const CHECKED = [
  STRINGS,
  "*.md",
  "{docs,examples,bench}/**/*.md",
  `${CODE}/**/*.{ts,tsx,mjs,js}`,
  "*.{ts,mjs,js}",
  "prisma/*.prisma",
];
const IGNORED = ["**/node_modules/**", "core/generated/**"];

export type Finding = { line: number; found: string; say: string; why: string };

export function findPhrases(path: string, text: string): Finding[] {
  if (path === STRINGS) return findIn([{ line: 1, text }], screenPatterns, (text) => text);
  return findIn(path.endsWith(".md") ? paragraphsOf(text) : commentsOf(text), patterns);
}

function findIn(passages: Passage[], patterns: typeof screenPatterns, read = blank): Finding[] {
  return passages.flatMap(({ line, text }) =>
    patterns.flatMap(({ pattern, say, why }) =>
      [...read(text).matchAll(pattern)].map(({ 0: found, index }) => ({
        line: line + (text.slice(0, index).match(/\n/g)?.length ?? 0),
        found: found.replace(/\s+/g, " "),
        say,
        why,
      })),
    ),
  );
}

const search = (all: typeof phrases) =>
  all.map((phrase) => ({
    ...phrase,
    pattern: new RegExp(`(?<![\\w-])(?:${phrase.pattern.source.replaceAll(" ", "\\s+")})(?![\\w-])`, "gim"),
  }));
const patterns = search(phrases);
const screenPatterns = search(screenPhrases);

type Passage = { line: number; text: string };

function paragraphsOf(text: string): Passage[] {
  const withoutCode = text.replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, (code) => code.replace(/[^\n]/g, ""));
  return [...withoutCode.matchAll(/(?:[^\n]+\n?)+/g)].map(({ 0: block, index }) => ({
    line: lineAt(withoutCode, index),
    text: block,
  }));
}

/** A string that looks like a comment counts as a comment, which has caused no false finding so far. */
function commentsOf(text: string): Passage[] {
  const comments = text.matchAll(/(?<=^|[\s{(,])\/\*[\s\S]*?\*\/|(?<=^|[ \t])\/\/[ /][^\n]*(?:\n[ \t]*\/\/ [^\n]*)*/gm);
  return [...comments].map(({ 0: comment, index }) => ({
    line: lineAt(text, index),
    text: comment.replace(/^[ \t]*(?:\/?\*+|\/\/+)|\*\/$/gm, ""),
  }));
}

/** Placeholders keep the length, so that positions stay correct. */
function blank(text: string): string {
  return text.replace(/`[^`]*`|\]\([^)\s]*\)|"[^"]{0,200}"|“[^”]*”|(?<!\w)_[^_]+_(?!\w)/g, (part) => part.replace(/[^\n]/g, "#"));
}

const lineAt = (text: string, index: number) => text.slice(0, index).split("\n").length;

if (import.meta.main) {
  const faults = globSync(CHECKED, { cwd: ROOT, exclude: IGNORED })
    .sort()
    .flatMap((path) =>
      findPhrases(path, readFileSync(join(ROOT, path), "utf8")).map(
        ({ line, found, say, why }) => `${path}:${line}: "${found}" → ${say} (${why})`,
      ),
    );
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
