import { ServiceError } from "../../../errors.ts";
import { type GitProcess, gitLauncher } from "../git-launcher.ts";
import { objectReads } from "../queues.ts";
import { GitFailed, RanOutOfTime, spawnGit } from "../run-git.ts";

export type ObjectInfo = { oid: string; type: "commit" | "tree" | "blob" | "tag"; size: number };
export type GitObject = ObjectInfo & { bytes: Buffer };

type Pending = {
  isContents: boolean;
  resolve: (found: ObjectInfo | GitObject | undefined) => void;
  reject: (error: Error) => void;
  /** Once its first line has come. */
  info?: ObjectInfo;
};

// What git keeps of what it has read is of no use to the next request.
const CONFIG = ["core.deltaBaseCacheLimit=16m"];
const ARGUMENTS = ["cat-file", "--batch-command"];
const TIMEOUT_MS = 20_000;
/** How long a process waits for the next request that reads from the same repository, and how many wait. */
const REST_MS = 2_000;
const RESTING_MAX = 32;
/** Git forgets no tree and no commit that it has read: so no process goes on for long (S137). */
const READER_MAX_BYTES = 16 * 1024 * 1024;
const READER_MAX_MS = 30_000;
const READER_MAX_QUESTIONS = 5_000;

/** About 100,000 entries in one folder: they are in memory while it is read. */
const TREE_MAX_BYTES = 4 * 1024 * 1024;
/**
 * Of all folders that one request reads. Each name in a path has a folder of its own, and a request can name 1,000 paths: without an end to it, reading
 * them keeps this process from everybody else (S137).
 */
const TREES_MAX_BYTES = 16 * 1024 * 1024;
/** What the smallest tree costs: two answers from git, and being remembered. */
const TREE_COST_BYTES = 256;
const FOUND = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/;

/**
 * A repository's objects, all read through one git process, however many are asked for and in whatever order. Names that are asked
 * for must have no line break; paths never are: they are walked down tree by tree (find-entry.ts).
 */
export class GitObjects {
  readonly #path: string;
  readonly #reader: Reader;
  readonly #deadline: NodeJS.Timeout;
  /** By what they were asked for as. */
  readonly #trees = new Map<string, Buffer>();
  #treeBytes = 0;
  #isClosed = false;

  /** Close it when you are done with it. */
  static async open(path: string): Promise<GitObjects> {
    return new GitObjects(path, takeResting(path) ?? (await Reader.start(path)));
  }

  private constructor(path: string, reader: Reader) {
    this.#path = path;
    this.#reader = reader;
    this.#deadline = setTimeout(() => reader.end(new RanOutOfTime()), TIMEOUT_MS);
  }

  /** What an object is; undefined when there is none of this name. */
  async info(name: string): Promise<ObjectInfo | undefined> {
    return this.#ask("info", name);
  }

  /** An object with its content; undefined when there is none of this name. @throws ObjectTooLarge */
  async read(name: string, maxBytes: number): Promise<GitObject | undefined> {
    const info = await this.info(name);
    if (!info) return undefined;
    if (info.size > maxBytes) throw new ObjectTooLarge(info);
    return (await this.#ask("contents", info.oid)) as GitObject | undefined;
  }

  /**
   * The content of a tree, or of the root of a commit; undefined when there is none. Each is read once, however many paths lead through it (S138).
   * @throws TooMuchToRead
   */
  async tree(treeish: string): Promise<Buffer | undefined> {
    const known = this.#trees.get(treeish);
    if (known) return known;
    const info = await this.info(`${treeish}^{tree}`);
    if (!info) return undefined;
    if (info.size > TREE_MAX_BYTES) throw new TooMuchToRead("This folder has too many entries to be listed.");
    this.#treeBytes += info.size + TREE_COST_BYTES;
    if (this.#treeBytes > TREES_MAX_BYTES)
      throw new TooMuchToRead(
        "Too many large folders have to be read for this. Ask for fewer paths at once, or clone the repository.",
      );
    const tree = (await this.#ask("contents", info.oid)) as GitObject | undefined;
    if (tree) this.#trees.set(treeish, tree.bytes);
    return tree?.bytes;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    rest(this.#path, this.#reader);
  }

  #ask(command: "info" | "contents", name: string): Promise<ObjectInfo | GitObject | undefined> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED));
    return this.#reader.ask(command, name);
  }
}

const CLOSED = "these objects were closed";

/** A git process that answers questions about one repository's objects, in the order of the questions. */
class Reader {
  readonly #child: GitProcess;
  /** What was asked for and has no answer yet begins at `#next`: taking the first of an array away moves all others (S137). */
  #pending: Pending[] = [];
  #next = 0;
  #chunks: Buffer[] = [];
  #length = 0;
  #failure: Error | undefined;
  #stderr = "";
  readonly #startedAt = Date.now();
  #questions = 0;
  /** Of the objects that were asked about. */
  #bytes = 0;

  static async start(path: string): Promise<Reader> {
    // Not under limited-git, which costs half as much again: sizes are asked for before contents, and the deadline ends the rest.
    return new Reader(await spawnGit(path, ARGUMENTS, { config: CONFIG }));
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

  /** Whether it can go on with the questions of another request. */
  get isAtRest(): boolean {
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
      // Whatever is asked in one turn goes in one piece.
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
      // A line break ends the content.
      const bytes = this.#take(first.info.size + 1).subarray(0, -1);
      this.#toNext();
      first.resolve({ ...first.info, bytes });
    }
  }

  #toNext(): void {
    this.#next += 1;
    // Half of it is no longer needed: the rest is moved once for as many answers.
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

type Resting = { path: string; reader: Reader; timer: NodeJS.Timeout };

// One for the process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookRestingReaders?: Set<Resting> };
keeper.keyhookRestingReaders ??= new Set();
const resting = keeper.keyhookRestingReaders;

/** Pages of a repository are read one soon after the other, and starting git is half of what reading one takes. */
function rest(path: string, reader: Reader): void {
  // Only what serves many has a launcher: a command is over when it is done.
  if (!reader.isAtRest || !gitLauncher() || resting.size >= RESTING_MAX) {
    reader.end(new Error(CLOSED));
    return;
  }
  const timer = setTimeout(() => {
    resting.delete(one);
    reader.end(new Error(CLOSED));
  }, REST_MS).unref();
  const one = { path, reader, timer };
  resting.add(one);
}

function takeResting(path: string): Reader | undefined {
  for (const one of resting) {
    if (one.path !== path) continue;
    resting.delete(one);
    clearTimeout(one.timer);
    if (one.reader.isAtRest) return one.reader;
  }
  return undefined;
}

/** An object with more bytes than its reader has room for. */
export class ObjectTooLarge extends Error {
  override name = "ObjectTooLarge";
  readonly info: ObjectInfo;

  constructor(info: ObjectInfo) {
    super(`${info.type} ${info.oid} has ${info.size} bytes`);
    this.info = info;
  }
}

/** More than one answer can have. */
export class TooMuchToRead extends ServiceError {
  constructor(message: string) {
    super("invalid_request", message);
  }
}

/**
 * Opens the objects of a repository for as long as `work` takes. `work` opens none itself, and does nothing that takes longer than
 * looking objects up: it has one of few places meanwhile (queues.ts).
 * @throws ServiceError `unavailable` when no place came in time
 */
export function withObjects<T>(path: string, work: (objects: GitObjects) => Promise<T>): Promise<T> {
  return objectReads.run(
    async () => {
      const objects = await GitObjects.open(path);
      try {
        return await work(objects);
      } finally {
        objects.close();
      }
    },
    { within: path },
  );
}
