import { gitLauncher } from "../git-launcher.ts";
import type { GitProcess } from "../launched-git.ts";
import { GitFailed, spawnGit } from "../run-git.ts";

export type ObjectInfo = { oid: string; type: "commit" | "tree" | "blob" | "tag"; size: number };
export type GitObject = ObjectInfo & { bytes: Buffer };

type Pending = {
  isContents: boolean;
  resolve: (found: ObjectInfo | GitObject | undefined) => void;
  reject: (error: Error) => void;
  info?: ObjectInfo;
};

// With `committish`, an ambiguous abbreviation means the commit.
const CONFIG = ["core.deltaBaseCacheLimit=16m", "core.disambiguate=committish"];
const ARGUMENTS = ["cat-file", "--batch-command"];

const IDLE_MS = 2_000;
const IDLE_MAX = 32;
/** S137: git keeps all trees and commits that it has read in memory, so each process has these limits. */
const READER_MAX_BYTES = 16 * 1024 * 1024;
const READER_MAX_MS = 30_000;
const READER_MAX_QUESTIONS = 5_000;

const FOUND = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/;

export const CLOSED = "the reader of git objects is closed";

export class ObjectReader {
  readonly #child: GitProcess;
  /** `#next` is the first unanswered question. Removing an array's first element would move all others (S137). */
  #pending: Pending[] = [];
  #next = 0;
  #chunks: Buffer[] = [];
  #length = 0;
  #failure: Error | undefined;
  #stderr = "";
  readonly #startedAt = Date.now();
  #questions = 0;
  /** The bytes that git keeps in memory. */
  #bytes = 0;

  static async start(path: string): Promise<ObjectReader> {
    // Does not use limited-git, which is slower. Callers check sizes first, and end the reader at a deadline.
    return new ObjectReader(await spawnGit(path, ARGUMENTS, { config: CONFIG }));
  }

  private constructor(child: GitProcess) {
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#answer();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (this.#stderr.length < 4_000) this.#stderr += chunk.toString("utf8");
    });
    child.stdin.on("error", () => undefined);
    child.once("error", (error) => this.#fail(error));
    child.once("close", (status) => this.#fail(new GitFailed(ARGUMENTS, status, this.#stderr)));
  }

  get isReusable(): boolean {
    const isWithinLimits =
      this.#bytes <= READER_MAX_BYTES && this.#questions <= READER_MAX_QUESTIONS && Date.now() - this.#startedAt <= READER_MAX_MS;
    return !this.#failure && this.#pending.length === this.#next && this.#length === 0 && isWithinLimits;
  }

  end(reason: Error): void {
    this.#fail(reason);
    this.#child.kill("SIGKILL");
  }

  ask(command: "info" | "contents", name: string): Promise<ObjectInfo | GitObject | undefined> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (name.includes("\n") || name.includes("\0")) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#pending.push({ isContents: command === "contents", resolve, reject });
      this.#questions += 1;
      const { stdin } = this.#child;
      if (stdin.writableCorked === 0) {
        stdin.cork();
        process.nextTick(() => stdin.uncork());
      }
      stdin.write(`${command} ${name}\n`);
    });
  }

  #answer(): void {
    for (let first = this.#pending[this.#next]; first; first = this.#pending[this.#next]) {
      if (!first.info) {
        const line = this.#takeLine();
        if (line === undefined) return;
        const [, oid, type, size] = FOUND.exec(line) ?? [];
        if (oid) first.info = { oid, type: type as ObjectInfo["type"], size: Number(size) };
        if (type !== "blob") this.#bytes += Number(size ?? 0);
        if (!first.info || !first.isContents) {
          this.#toNext();
          first.resolve(first.info);
          continue;
        }
      }
      if (this.#length < first.info.size + 1) return;
      const bytes = this.#take(first.info.size + 1).subarray(0, -1);
      this.#toNext();
      first.resolve({ ...first.info, bytes });
    }
  }

  #toNext(): void {
    this.#next += 1;
    if (this.#next * 2 < this.#pending.length) return;
    this.#pending = this.#pending.slice(this.#next);
    this.#next = 0;
  }

  #takeLine(): string | undefined {
    const end = this.#joined().indexOf(10);
    return end < 0 ? undefined : this.#take(end + 1).toString("utf8", 0, end);
  }

  #take(length: number): Buffer {
    const all = this.#joined();
    this.#chunks = [all.subarray(length)];
    this.#length = all.length - length;
    return all.subarray(0, length);
  }

  #joined(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const unanswered = this.#pending.slice(this.#next);
    this.#pending = [];
    this.#next = 0;
    for (const { reject } of unanswered) reject(this.#failure);
  }
}

type IdleReader = { path: string; reader: ObjectReader; timer: NodeJS.Timeout };

// Each bundle of Next creates its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookIdleReaders?: Set<IdleReader> };
keeper.keyhookIdleReaders ??= new Set();
const idleReaders = keeper.keyhookIdleReaders;

/** A repository's pages are often read shortly after one another, and starting git is expensive. */
export function keepIdleReader(path: string, reader: ObjectReader): void {
  // Without a launcher, this process is a command that ends soon.
  if (!reader.isReusable || !gitLauncher() || idleReaders.size >= IDLE_MAX) {
    reader.end(new Error(CLOSED));
    return;
  }
  const timer = setTimeout(() => {
    idleReaders.delete(one);
    reader.end(new Error(CLOSED));
  }, IDLE_MS).unref();
  const one = { path, reader, timer };
  idleReaders.add(one);
}

export function takeIdleReader(path: string): ObjectReader | undefined {
  for (const one of idleReaders) {
    if (one.path !== path) continue;
    idleReaders.delete(one);
    clearTimeout(one.timer);
    if (one.reader.isReusable) return one.reader;
    one.reader.end(new Error(CLOSED));
  }
  return undefined;
}
