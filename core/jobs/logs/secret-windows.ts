import type { LogShare } from "./log-share.ts";
import { encodingsOf } from "./secret-forms.ts";

const SLICE_MS = 4;
const SHARE = 0.25;
const STEP_WINDOWS = 1_000;
const SHORTEST = 4;
/** The encoded form of a shorter value would occur in unrelated text. */
const SHORTEST_ENCODED = 8;
/** A longer value is split into windows of this length, and each is masked wherever it occurs. */
const LONGEST = 64;
const LINES_ENCODED_MAX = 100;
const ENCODED_WINDOWS_MAX = 64 * 1024;

/** Each position of the output takes one binary search. An automaton could take 250 MB for the secrets of one job. */
export class SecretWindows {
  readonly #windows: readonly string[];
  readonly #shorter: Int32Array;
  readonly #begins: Uint8Array;

  private constructor(windows: readonly string[], shorter: Int32Array) {
    this.#windows = windows;
    this.#shorter = shorter;
    this.#begins = new Uint8Array(2 ** Math.ceil(Math.log2(4 * (windows.length + 1))));
  }

  /** The secrets of one task may take half a second, so other work runs in between (S132). */
  static async of(secrets: Iterable<string>, share: Pick<LogShare, "take">): Promise<SecretWindows> {
    const steps = SecretWindows.#build(secrets);
    for (;;) {
      const step = await share.take(() => {
        const end = performance.now() + SLICE_MS;
        let next = steps.next();
        while (!next.done && performance.now() < end) next = steps.next();
        return next;
      }, SHARE);
      if (step.done) return step.value;
    }
  }

  static *#build(secrets: Iterable<string>): Steps<SecretWindows> {
    const sorted = yield* sortedOf(yield* allWindowsOf(secrets));
    const all = new SecretWindows(sorted, yield* shorterOf(sorted));
    for (const [at, window] of sorted.entries()) {
      const hash = all.#hashAt(window, 0);
      all.#begins[hash >>> 3] = (all.#begins[hash >>> 3] ?? 0) | (1 << (hash & 7));
      if (at % STEP_WINDOWS === 0) yield;
    }
    return all;
  }

  get isEmpty(): boolean {
    return this.#windows.length === 0;
  }

  lengthAt(text: string, at: number): number {
    const hash = this.#hashAt(text, at);
    if (((this.#begins[hash >>> 3] ?? 0) & (1 << (hash & 7))) === 0) return 0;
    const ahead = text.slice(at, at + LONGEST);
    // If a text begins with a window, then everything that sorts between the two also begins with this window.
    let found = this.#firstFrom(ahead);
    if (this.#windows[found] !== ahead) found--;
    for (; found >= 0; found = this.#shorter[found] ?? -1) {
      const window = this.#windows[found] ?? "";
      if (ahead.startsWith(window)) return window.length;
    }
    return 0;
  }

  begunAtEnd(text: string): number {
    for (let length = Math.min(LONGEST - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      const first = this.#firstFrom(end);
      const longer = this.#windows[first] === end ? first + 1 : first;
      if (this.#windows[longer]?.startsWith(end)) return length;
    }
    return 0;
  }

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
    // Beyond the end, `charCodeAt` returns NaN, which counts as 0.
    for (let next = at; next < at + SHORTEST; next++) hash = Math.imul(hash, 0x9e3779b1) + text.charCodeAt(next);
    return (hash ^ (hash >>> 15)) & (8 * this.#begins.length - 1);
  }
}

type Steps<Result> = Generator<void, Result, void>;

function* allWindowsOf(secrets: Iterable<string>): Steps<string[]> {
  const values = [...new Set(secrets)].sort((one, other) => one.length - other.length);
  const windows: string[] = [];
  for (const value of values) {
    for (const text of new Set([value, ...linesOf(value)])) if (text.length >= SHORTEST) yield* addWindows(windows, text);
  }
  let room = ENCODED_WINDOWS_MAX;
  for (const text of textsToEncode(values)) {
    const known = new Set([text]);
    for (const form of encodingsOf(text)) {
      room -= Math.ceil(form.length / LONGEST);
      if (room < 0) return windows;
      if (form.length >= SHORTEST_ENCODED && !known.has(form)) yield* addWindows(windows, form);
      known.add(form);
      yield;
    }
  }
  return windows;
}

function* textsToEncode(values: readonly string[]): Generator<string> {
  const isLong = (text: string) => text.length >= SHORTEST;
  yield* values.filter(isLong);
  for (const value of values) {
    const lines = new Set(linesOf(value).filter(isLong).slice(0, LINES_ENCODED_MAX));
    lines.delete(value);
    yield* lines;
  }
}

const linesOf = (value: string): string[] => value.split(/\r\n|\n|\r/).map((line) => line.trim());

/** Output often pauses after a line, so a window that begins near the end of a line would hold output back. */
function* addWindows(windows: string[], form: string): Steps<void> {
  const lineEndsSoonAfter = (place: number) => form.slice(place, place + LONGEST / 4).indexOf("\n");
  let at = 0;
  while (at + LONGEST < form.length) {
    const window = form.slice(at, at + LONGEST);
    windows.push(window);
    if (windows.length % STEP_WINDOWS === 0) yield;
    const line = window.lastIndexOf("\n") + 1;
    at += line > 1 ? line : lineEndsSoonAfter(at + LONGEST) < 0 ? LONGEST : LONGEST / 2;
  }
  const last = Math.max(0, form.length - LONGEST);
  windows.push(form.slice(Math.min(last + lineEndsSoonAfter(last) + 1, at)));
}

/** The built-in sort cannot be interrupted, so short runs are sorted and then merged. */
function* sortedOf(texts: readonly string[]): Steps<string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += STEP_WINDOWS) {
    runs.push([...new Set(texts.slice(at, at + STEP_WINDOWS))].sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(one: readonly string[], other: readonly string[]): Steps<string[]> {
  const merged: string[] = [];
  for (let a = 0, b = 0; a < one.length || b < other.length; ) {
    const [first, second] = [one[a], other[b]];
    const isFirst = second === undefined || (first !== undefined && first <= second);
    merged.push((isFirst ? first : second) as string);
    if (isFirst) a++;
    if (!isFirst || first === second) b++;
    if (merged.length % STEP_WINDOWS === 0) yield;
  }
  return merged;
}

function* shorterOf(sorted: readonly string[]): Steps<Int32Array> {
  const shorter = new Int32Array(sorted.length);
  const begun: number[] = [];
  for (const [at, window] of sorted.entries()) {
    while (begun.length > 0 && !window.startsWith(sorted[begun.at(-1) ?? 0] ?? "")) begun.pop();
    shorter[at] = begun.at(-1) ?? -1;
    begun.push(at);
    if (at % STEP_WINDOWS === 0) yield;
  }
  return shorter;
}
