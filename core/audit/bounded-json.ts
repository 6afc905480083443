import { hash } from "node:crypto";

export const DATA_MAX_BYTES = 4_096;

type Measure = { characters: number; items: number };
/** The measures are tried in order. Texts are shortened first, because leaving out items could hide an important one. */
const measures: readonly Measure[] = [
  ...[300, 100, 50, 20, 10, 0].map((characters) => ({ characters, items: Number.POSITIVE_INFINITY })),
  ...[50, 10, 0].map((items) => ({ characters: 0, items })),
];
const TOP_CHARACTERS = 150;

/** A cut text ends in a part of its SHA-256, and a cut list in its original length. `cutFromBytes` is the original size. */
export function boundedJson(data: object): string {
  const whole = storableJson(data);
  const cutFromBytes = Buffer.byteLength(whole);
  if (cutFromBytes <= DATA_MAX_BYTES) return whole;
  const fields = Object.entries(JSON.parse(whole) as object);
  for (const measure of measures) {
    const kept = fields.map(([name, each]) => [name, typeof each === "string" ? cutTop(each, measure) : cut(each, measure)]);
    const shorter = JSON.stringify({ ...Object.fromEntries(kept), cutFromBytes });
    if (Buffer.byteLength(shorter) <= DATA_MAX_BYTES) return shorter;
  }
  return JSON.stringify({ cutFromBytes });
}

export function storableJson(value: object): string {
  return JSON.stringify(value, (_key, each) => (typeof each === "string" ? each.replaceAll("\0", "").toWellFormed() : each));
}

function cut(value: unknown, measure: Measure): unknown {
  if (typeof value === "string") return cutText(value, measure.characters);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const kept = value.slice(0, measure.items).map((each) => cut(each, measure));
    return value.length <= measure.items ? kept : [...kept, `… (${value.length} in all)`];
  }
  const fields = Object.entries(value);
  const kept = fields.slice(0, measure.items).map(([name, each]) => [cutText(name, measure.characters), cut(each, measure)]);
  return Object.fromEntries(fields.length <= measure.items ? kept : [...kept, ["…", `${fields.length} in all`]]);
}

const cutTop = (text: string, { characters }: Measure): string => cutText(text, Math.max(characters, TOP_CHARACTERS));

const HASH_DIGITS = 12;

function cutText(text: string, characters: number): string {
  const mark = `…#${hash("sha256", text).slice(0, HASH_DIGITS)}`;
  if (Buffer.byteLength(JSON.stringify(text)) - 2 <= characters + Buffer.byteLength(mark)) return text;
  return text.slice(0, characters).toWellFormed() + mark;
}
