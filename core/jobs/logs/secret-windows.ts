/** Shorter values are in too many words to be masked in all of them. */
const SHORTEST = 4;
/** Of base64 and the like: what is left of a short value there would mask what has nothing to do with it. */
const SHORTEST_ENCODED = 8;
/** What is longer is looked for in windows of this length, side by side: where all of it is, all of them are. */
const LONGEST = 64;
/** Where programs break the lines of base64: `base64` and MIME, and PEM. */
const BASE64_COLUMNS = [76, 64];
/** Of so many lines of one secret also what they become when they are encoded: a key's file has fewer. */
const LINES_ENCODED_MAX = 100;
/** Of what is longer only the whole is: the list is built before a task starts, while nothing else runs. */
const LINES_ENCODED_OF_CHARACTERS = 16 * 1024;

/**
 * What to look for so that secrets are found: their values, each line of a value, and what they become in base64, in an address and in JSON.
 * All of it lies in one sorted list of short texts, so that a place in the output takes one binary search however many secrets there are.
 * An automaton (Aho, Corasick) would take some forty bytes for each character of each form: 250 MB for the secrets that one job may have.
 */
export class SecretWindows {
  readonly #windows: string[];
  /** Of each window: the longest other one with which it begins; -1 where there is none. */
  readonly #shorter: Int32Array;
  /** Whether any window begins with four characters of this hash. */
  readonly #begins: Uint8Array;

  constructor(secrets: Iterable<string>) {
    this.#windows = [...new Set([...secrets].flatMap(formsOf).flatMap(windowsOf))].sort();
    this.#shorter = shorterOf(this.#windows);
    this.#begins = new Uint8Array(2 ** Math.ceil(Math.log2(8 * (this.#windows.length + 1))));
    for (const window of this.#windows) this.#begins[this.#hashAt(window, 0)] = 1;
  }

  get isEmpty(): boolean {
    return this.#windows.length === 0;
  }

  /** How long the longest window is that is at this place of a text; 0 where none is. */
  lengthAt(text: string, at: number): number {
    if (this.#begins[this.#hashAt(text, at)] === 0) return 0;
    const ahead = text.slice(at, at + LONGEST);
    // Whatever lies between a window and a text that begins with it begins with it too.
    let found = this.#firstFrom(ahead);
    if (this.#windows[found] !== ahead) found--;
    for (; found >= 0; found = this.#shorter[found] ?? -1) {
      const window = this.#windows[found] ?? "";
      if (ahead.startsWith(window)) return window.length;
    }
    return 0;
  }

  /** How much of the end of a text may be the beginning of a window, short of all of it. */
  begunAtEnd(text: string): number {
    for (let length = Math.min(LONGEST - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      const first = this.#firstFrom(end);
      const longer = this.#windows[first] === end ? first + 1 : first;
      if (this.#windows[longer]?.startsWith(end)) return length;
    }
    return 0;
  }

  /** The first window that does not come before a text. */
  #firstFrom(text: string): number {
    let from = 0;
    for (let to = this.#windows.length; from < to; ) {
      const middle = (from + to) >>> 1;
      if ((this.#windows[middle] ?? "") < text) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #hashAt(text: string, at: number): number {
    let hash = 0;
    // Beyond its end a text has NaN, which counts as 0 here; such a place is none.
    for (let next = at; next < at + SHORTEST; next++) hash = Math.imul(hash, 0x9e3779b1) + text.charCodeAt(next);
    return (hash ^ (hash >>> 15)) & (this.#begins.length - 1);
  }
}

function formsOf(secret: string): string[] {
  const isLong = (form: string) => form.length >= SHORTEST;
  const lines = secret
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter(isLong);
  const encoded = [secret, ...(secret.length <= LINES_ENCODED_OF_CHARACTERS ? lines.slice(0, LINES_ENCODED_MAX) : [])]
    .filter(isLong)
    .flatMap((form) => [encodeURIComponent(form.toWellFormed()), JSON.stringify(form).slice(1, -1), ...base64FormsOf(form)]);
  return [...[secret].filter(isLong), ...lines, ...encoded.filter((form) => form.length >= SHORTEST_ENCODED)];
}

/** Base64 of a text that has the secret in it depends on where it begins, in three ways; of each, what depends on nothing else. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = before === 0 ? 0 : before + 1;
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const form = encoded.slice(start, end);
    const wrapped = before === 0 ? BASE64_COLUMNS.flatMap((columns) => cut(form, columns)) : [];
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), ...wrapped];
  });
}

/** What a program wraps begins with the secret; one that is no longer than a line is not wrapped. */
const cut = (form: string, columns: number): string[] =>
  form.length <= columns ? [] : (form.match(new RegExp(`.{1,${columns}}`, "g")) ?? []);

/**
 * No window begins shortly before a line ends, if that can be helped: whatever begins like a window is kept back where the output pauses,
 * and outputs pause after a line.
 */
function windowsOf(form: string): string[] {
  const windows: string[] = [];
  const lineEndsSoonAfter = (place: number) => form.slice(place, place + LONGEST / 4).indexOf("\n");
  let at = 0;
  while (at + LONGEST < form.length) {
    const window = form.slice(at, at + LONGEST);
    windows.push(window);
    const line = window.lastIndexOf("\n") + 1;
    at += line > 1 ? line : lineEndsSoonAfter(at + LONGEST) < 0 ? LONGEST : LONGEST / 2;
  }
  const last = Math.max(0, form.length - LONGEST);
  return [...windows, form.slice(Math.min(last + lineEndsSoonAfter(last) + 1, at))];
}

function shorterOf(sorted: readonly string[]): Int32Array {
  const shorter = new Int32Array(sorted.length);
  const begun: number[] = [];
  for (const [at, window] of sorted.entries()) {
    while (begun.length > 0 && !window.startsWith(sorted[begun.at(-1) ?? 0] ?? "")) begun.pop();
    shorter[at] = begun.at(-1) ?? -1;
    begun.push(at);
  }
  return shorter;
}
