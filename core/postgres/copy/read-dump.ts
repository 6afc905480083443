import { DatabaseCopyError } from "./check-target.ts";
import { DUMP_END } from "./dump-database.ts";

/** The caller must read a part's rows before the next part. */
export type DumpPart =
  | { kind: "statement"; text: string }
  | { kind: "rows"; table: string; columns: string[]; statement: string; content: AsyncGenerator<Buffer, void, undefined> };

const COPY = /^copy ("(?:[^"]|"")+") \(((?:"(?:[^"]|"")+"(?:, "(?:[^"]|"")+")*)?)\) from stdin;$/;
const NAME = /"((?:[^"]|"")+)"/g;
const NO_ROWS = "\\.\n";
const END_OF_ROWS = `\n${NO_ROWS}`;
const LINE_MAX_BYTES = 1024 * 1024;

export async function* readDump(source: AsyncIterable<Uint8Array>): AsyncGenerator<DumpPart, void, undefined> {
  const reader = new Reader(source);
  for (;;) {
    const text = await reader.line();
    if (text === DUMP_END) break;
    const [, table, columns] = COPY.exec(text) ?? [];
    if (table === undefined || columns === undefined) {
      yield { kind: "statement", text };
      continue;
    }
    const [name = ""] = names(table);
    yield { kind: "rows", table: name, columns: names(columns), statement: text, content: reader.rows() };
  }
  await reader.end();
}

const names = (list: string): string[] => [...list.matchAll(NAME)].map(([, name = ""]) => name.replaceAll('""', '"'));

class Reader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    for (let end = this.#rest.indexOf("\n"); ; end = this.#rest.indexOf("\n")) {
      if (end >= 0) {
        const text = this.#rest.toString("utf8", 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return text;
      }
      if (this.#rest.length > LINE_MAX_BYTES) throw new DatabaseCopyError("This is not a dump of this service's database.");
      await this.#more();
    }
  }

  /** COPY escapes backslashes, so no row looks like the line `\.`. */
  async *rows(): AsyncGenerator<Buffer, void, undefined> {
    while (this.#rest.length < NO_ROWS.length) await this.#more();
    if (this.#rest.toString("latin1", 0, NO_ROWS.length) === NO_ROWS) {
      this.#rest = this.#rest.subarray(NO_ROWS.length);
      return;
    }
    for (;;) {
      const end = this.#rest.indexOf(END_OF_ROWS);
      // The end of the rows may be cut between two chunks.
      const length = end >= 0 ? end + 1 : Math.max(0, this.#rest.length - END_OF_ROWS.length + 1);
      if (length > 0) yield this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(end >= 0 ? end + END_OF_ROWS.length : length);
      if (end >= 0) return;
      await this.#more();
    }
  }

  /** Reads to the end, so that the sending program can still report an error. */
  async end(): Promise<void> {
    while (!(await this.#source.next()).done);
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done) throw new DatabaseCopyError("The database dump in the backup is incomplete.");
    this.#rest = this.#rest.length === 0 ? Buffer.from(value) : Buffer.concat([this.#rest, value]);
  }
}
