/** What one entry says takes no more than this, whatever was changed: nobody can delete from the log what somebody wrote into it. */
export const DATA_MAX_BYTES = 4_096;

type Measure = { characters: number; items: number };
/** Tried one after the other. */
const measures: readonly Measure[] = [
  { characters: 300, items: 20 },
  { characters: 300, items: 8 },
  { characters: 100, items: 8 },
  { characters: 30, items: 3 },
];

/**
 * An entry's data as JSON that Postgres can hold: it has no NUL and no half of a surrogate pair, which names and descriptions from outside
 * may bring. What is too large is cut: texts and lists say how long they were, and `cutFromBytes` how much it was together.
 */
export function boundedJson(data: object): string {
  const whole = storableJson(data);
  const cutFromBytes = Buffer.byteLength(whole);
  if (cutFromBytes <= DATA_MAX_BYTES) return whole;
  for (const measure of measures) {
    const shorter = JSON.stringify({ ...(cut(JSON.parse(whole), measure) as object), cutFromBytes });
    if (Buffer.byteLength(shorter) <= DATA_MAX_BYTES) return shorter;
  }
  return JSON.stringify({ cutFromBytes });
}

export function storableJson(value: object): string {
  return JSON.stringify(value, (_key, each) => (typeof each === "string" ? each.replaceAll("\0", "").toWellFormed() : each));
}

function cut(value: unknown, measure: Measure): unknown {
  const { characters, items } = measure;
  if (typeof value === "string") {
    if (value.length <= characters) return value;
    return `${value.slice(0, characters).toWellFormed()}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((each) => cut(each, measure));
    return value.length <= items ? kept : [...kept, `… (${value.length} in all)`];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, measure)]));
}
