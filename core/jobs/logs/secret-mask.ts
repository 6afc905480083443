/** What stands in a log in place of a secret. */
export const MASK = "***";

/** Shorter values are in too many words to be masked in all of them. */
const SHORTEST = 4;
/** Of base64 and the like: what is left of a short value there would mask what has nothing to do with it. */
const SHORTEST_ENCODED = 8;

type Pattern = { text: string /** Of each length: how much of its end is also its beginning. */; borders: Uint32Array };

/**
 * Takes secrets out of text that comes in pieces (S134): their values, each line of a value, and what they become in base64, in an
 * address and in JSON. What could be the beginning of one at the end of a piece is kept back until more is known.
 */
export class SecretMask {
  readonly #patterns: Pattern[];
  #kept = "";

  constructor(secrets: Iterable<string>) {
    const forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
    this.#patterns = forms.map((text) => ({ text, borders: bordersOf(text) }));
  }

  /** @returns what may be shown of all that was given so far and not shown yet */
  push(piece: string): string {
    const text = this.#kept + piece;
    if (this.#patterns.length === 0) return text;
    let keepFrom = text.length - Math.max(0, ...this.#patterns.map((pattern) => beginningAtEnd(text, pattern)));
    // A secret that reaches into what is kept back is kept back whole.
    for (const { from, to } of this.#placesIn(text)) if (from < keepFrom && to > keepFrom) keepFrom = from;
    this.#kept = text.slice(keepFrom);
    return this.#masked(text.slice(0, keepFrom));
  }

  /** What is left when nothing more comes. */
  end(): string {
    const rest = this.#kept;
    this.#kept = "";
    return this.#masked(rest);
  }

  #masked(text: string): string {
    let shown = "";
    let at = 0;
    for (const { from, to } of this.#placesIn(text)) {
      shown += text.slice(at, from) + MASK;
      at = to;
    }
    return shown + text.slice(at);
  }

  /**
   * Where secrets are: from the left, of those that begin together the longest. Not by a regular expression, which cannot be as long as
   * secrets may be, and whose error would say what they are.
   */
  #placesIn(text: string): { from: number; to: number }[] {
    const places: { from: number; to: number }[] = [];
    const ahead = this.#patterns.map(({ text: form }) => ({ form, from: text.indexOf(form) })).filter(({ from }) => from >= 0);
    for (let at = 0; ; at = places.at(-1)?.to ?? at) {
      let first: (typeof ahead)[number] | undefined;
      for (const each of ahead) {
        if (each.from >= 0 && each.from < at) each.from = text.indexOf(each.form, at);
        if (each.from >= 0 && (!first || each.from < first.from)) first = each;
      }
      if (!first) return places;
      places.push({ from: first.from, to: first.from + first.form.length });
    }
  }
}

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r\n|\n|\r/).map((line) => line.trim());
  const plain = [secret, ...lines].filter((form) => form.length >= SHORTEST);
  const encoded = plain.flatMap((form) => [
    encodeURIComponent(form.toWellFormed()),
    JSON.stringify(form).slice(1, -1),
    ...base64FormsOf(form),
  ]);
  return [...plain, ...encoded.filter((form) => form.length >= SHORTEST_ENCODED)];
}

/** Base64 of a text that has the secret in it depends on where it begins, in three ways; of each, what depends on nothing else. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = before === 0 ? 0 : before + 1;
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const form = encoded.slice(start, end);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** How long the longest beginning of the pattern is, short of all of it, with which the text ends (Knuth, Morris, Pratt). */
function beginningAtEnd(text: string, { text: pattern, borders }: Pattern): number {
  let matched = 0;
  for (let at = Math.max(0, text.length - pattern.length + 1); at < text.length; at++) {
    while (matched > 0 && text[at] !== pattern[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === pattern[matched]) matched++;
  }
  return matched;
}

function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}
