import { listen } from "./notifications.ts";

export type Tail<Entry, State, Cursor extends number | string> = {
  name: string;
  channel: string;
  read(id: string, after: Cursor | undefined): Promise<Page<Entry, State, Cursor> | undefined>;
  cursorOf(entry: Entry): Cursor;
  bytesOf(entry: Entry): number;
};

export type Page<Entry, State, Cursor> = {
  entries: readonly Entry[];
  /** Without entries, this is the requested cursor, but never beyond the end. */
  end: Cursor;
  isCut: boolean;
  state: State;
};

const POLL_MS = 5_000;
const POLL_LEAST_MS = 200;
const KEPT_BYTES = 64 * 1024;

/** The caller must have checked access. Followers of one object share a reader: many readers would overload the database. */
export async function* followTail<Entry, State, Cursor extends number | string>(
  tail: Tail<Entry, State, Cursor>,
  id: string,
  { after, signal }: { after?: Cursor; signal: AbortSignal },
): AsyncGenerator<Page<Entry, State, Cursor>, void, undefined> {
  await listening(tail);
  const readers = readersOf(tail);
  const reader = readers.get(id) ?? new Reader(tail, id);
  readers.set(id, reader);
  const leave = reader.join(() => readers.get(id) === reader && readers.delete(id));
  try {
    let last: Page<Entry, State, Cursor> | undefined;
    for (let at = after; !signal.aborted; ) {
      const page = last && at !== undefined ? await reader.next(at, last, signal) : await reader.read(at);
      if (!page || signal.aborted) return;
      at = last && at !== undefined && at > page.end ? at : page.end;
      last = page;
      yield page;
    }
  } finally {
    leave();
  }
}

// The tails are on `globalThis`, because each bundle of Next has its own instance of this module.
// biome-ignore lint/suspicious/noExplicitAny: each kind of tail has its own types.
const keeper = globalThis as typeof globalThis & { keyhookTails?: Map<string, Map<string, Reader<any, any, any>>> };

function readersOf({ name }: { name: string }) {
  keeper.keyhookTails ??= new Map();
  const readers = keeper.keyhookTails.get(name) ?? new Map();
  keeper.keyhookTails.set(name, readers);
  return readers;
}

const handlers = new Map<string, (id: string) => void>();

function listening(tail: { name: string; channel: string }): Promise<void> {
  const announce = (id: string) => {
    const readers = readersOf(tail);
    for (const reader of id === "" ? readers.values() : [readers.get(id)]) reader?.notify();
  };
  const handler = handlers.get(tail.name) ?? announce;
  handlers.set(tail.name, handler);
  return listen(tail.channel, handler);
}

type Waiting<Page, Cursor> = {
  after: Cursor;
  last: Page;
  resolve: (page: Page | undefined) => void;
  reject: (error: unknown) => void;
};

class Reader<Entry, State, Cursor extends number | string> {
  readonly #tail: Tail<Entry, State, Cursor>;
  readonly #id: string;
  #followers = 0;
  #kept: (Page<Entry, State, Cursor> & { from: Cursor }) | undefined;
  readonly #waiting = new Set<Waiting<Page<Entry, State, Cursor>, Cursor>>();
  readonly #reads = new Map<Cursor | undefined, Promise<Page<Entry, State, Cursor> | undefined>>();
  #latest: Promise<unknown> = Promise.resolve();
  #isChanged = false;
  #isPolling = false;
  #polledAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(tail: Tail<Entry, State, Cursor>, id: string) {
    this.#tail = tail;
    this.#id = id;
  }

  join(whenEmpty: () => void): () => void {
    this.#followers++;
    return () => {
      this.#followers--;
      if (this.#followers > 0) return;
      clearTimeout(this.#timer);
      whenEmpty();
    };
  }

  notify(): void {
    this.#isChanged = true;
    this.#schedule();
  }

  async next(after: Cursor, last: Page<Entry, State, Cursor>, signal: AbortSignal) {
    const kept = this.#kept;
    if (!kept || after < kept.from) return this.read(after);
    if (isNewTo({ after, last }, kept)) return this.#since(after, kept);
    const { promise, resolve, reject } = Promise.withResolvers<Page<Entry, State, Cursor> | undefined>();
    const one = { after, last, resolve, reject };
    const leave = () => resolve(undefined);
    signal.addEventListener("abort", leave);
    this.#waiting.add(one);
    this.#schedule();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(one);
      signal.removeEventListener("abort", leave);
    }
  }

  read(after: Cursor | undefined): Promise<Page<Entry, State, Cursor> | undefined> {
    const running = this.#reads.get(after);
    if (running) return running;
    const reading = this.#latest
      .then(() => {
        // The follower is at the end, so only a later notification requires another read.
        if (after !== undefined && after === this.#kept?.end) this.#isChanged = false;
        return this.#tail.read(this.#id, after);
      })
      .then((page) => {
        if (page) this.#keep(after, page);
        else for (const { resolve } of this.#waiting) resolve(undefined);
        return page;
      })
      .finally(() => this.#reads.delete(after));
    this.#reads.set(after, reading);
    this.#latest = reading.catch(() => undefined);
    return reading;
  }

  #keep(after: Cursor | undefined, page: Page<Entry, State, Cursor>): void {
    const kept = this.#kept;
    if (!kept) {
      // A follower that is still catching up has not read the end.
      if (page.isCut) return;
      this.#kept = { ...page, entries: [], from: page.end };
      this.#polledAt = performance.now();
    } else if (after === kept.end) {
      const entries = [...kept.entries, ...page.entries];
      let bytes = entries.reduce((sum, entry) => sum + this.#tail.bytesOf(entry), 0);
      let from = kept.from;
      while (bytes > KEPT_BYTES) {
        const oldest = entries.shift() as Entry;
        bytes -= this.#tail.bytesOf(oldest);
        from = this.#tail.cursorOf(oldest);
      }
      this.#kept = { ...page, entries, from };
      this.#deliver(page);
    } else if (page.state !== kept.state) {
      // The cache may lack entries that were written before the change of the state.
      this.#kept = { ...kept, state: page.state, isCut: true };
      this.#deliver(this.#kept);
      this.notify();
    }
  }

  #deliver(page: Page<Entry, State, Cursor>): void {
    for (const one of this.#waiting) if (isNewTo(one, page)) one.resolve(this.#since(one.after, page));
  }

  #schedule(): void {
    if (this.#waiting.size === 0 || this.#isPolling) return;
    clearTimeout(this.#timer);
    const due = this.#polledAt + (this.#isChanged || this.#kept?.isCut ? POLL_LEAST_MS : POLL_MS);
    this.#timer = setTimeout(() => void this.#poll(), Math.max(0, due - performance.now()));
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#polledAt = performance.now();
    try {
      await this.read(this.#kept?.end);
    } catch (error) {
      for (const { reject } of this.#waiting) reject(error);
    } finally {
      this.#isPolling = false;
      this.#schedule();
    }
  }

  #since(after: Cursor, page: Page<Entry, State, Cursor>): Page<Entry, State, Cursor> {
    return { ...page, entries: page.entries.filter((entry) => this.#tail.cursorOf(entry) > after) };
  }
}

/** If a follower is ahead of the page, only the state can be new. */
function isNewTo<State, Cursor>(
  { after, last }: { after: Cursor; last: { state: State; isCut: boolean } },
  page: { end: Cursor; state: State; isCut: boolean },
): boolean {
  return page.end > after || page.state !== last.state || page.isCut !== last.isCut;
}
