import { ServiceError } from "../../../errors.ts";
import { objectReads } from "../queues.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { RanOutOfTime } from "../run-git.ts";
import { CLOSED, type GitObject, keepIdleReader, type ObjectInfo, ObjectReader, takeIdleReader } from "./object-reader.ts";

const TIMEOUT_MS = 20_000;

const TREE_MAX_BYTES = 4 * 1024 * 1024;
/** S137: a request can name 1,000 paths, and each path may have many folders. */
const TREES_MAX_BYTES = 16 * 1024 * 1024;
export const TAG_MAX_BYTES = 1024 * 1024;
const COMMIT_MAX_BYTES = TAG_MAX_BYTES;
const NESTED_TAGS_MAX = 5;
const TREE_COST_BYTES = 256;

/** Walks down paths tree by tree, because git cannot be asked for a name with a line break. */
export class GitObjects {
  readonly #path: string;
  readonly #reader: ObjectReader;
  readonly #deadline: NodeJS.Timeout;
  readonly #trees = new Map<string, Buffer>();
  #treeBytes = 0;
  #isClosed = false;

  /** The caller must close the objects. */
  static async open(path: string): Promise<GitObjects> {
    return new GitObjects(path, takeIdleReader(path) ?? (await ObjectReader.start(path)));
  }

  private constructor(path: string, reader: ObjectReader) {
    this.#path = path;
    this.#reader = reader;
    this.#deadline = setTimeout(() => reader.end(new RanOutOfTime()), TIMEOUT_MS);
  }

  async info(name: string): Promise<ObjectInfo | undefined> {
    return this.#ask("info", name);
  }

  /** S137: git's own `^{commit}` would read any number of nested tags in full. */
  async commit(name: string): Promise<ObjectInfo | undefined> {
    let found = await this.info(name);
    for (let tags = 0; found?.type === "tag"; tags++) {
      if (tags === NESTED_TAGS_MAX || found.size > TAG_MAX_BYTES) return undefined;
      const tag = (await this.#ask("contents", found.oid)) as GitObject | undefined;
      const target = /^object ([0-9a-f]{40,64})\n/.exec(tag?.bytes.toString("latin1", 0, 80) ?? "")?.[1];
      found = target ? await this.info(target) : undefined;
    }
    return found?.type === "commit" ? found : undefined;
  }

  async hasRef(ref: string): Promise<boolean> {
    return (await resolveRef(this.#path, ref)) !== null;
  }

  async read(name: string, maxBytes: number): Promise<GitObject | undefined> {
    const info = await this.info(name);
    if (!info) return undefined;
    if (info.size > maxBytes) throw new ObjectTooLarge(info);
    return (await this.#ask("contents", info.oid)) as GitObject | undefined;
  }

  /** Reads each tree once, even for many paths (S138). */
  async tree(treeish: string): Promise<Buffer | undefined> {
    const known = this.#trees.get(treeish);
    if (known) return known;
    const info = await this.#treeOf(treeish);
    if (!info) return undefined;
    if (info.size > TREE_MAX_BYTES) throw new TooMuchToRead("This folder has too many entries to show. Clone the repository.");
    this.#treeBytes += info.size + TREE_COST_BYTES;
    if (this.#treeBytes > TREES_MAX_BYTES)
      throw new TooMuchToRead(
        "This requires reading too many large folders. Request fewer paths at once, or clone the repository.",
      );
    const tree = (await this.#ask("contents", info.oid)) as GitObject | undefined;
    if (tree) this.#trees.set(treeish, tree.bytes);
    return tree?.bytes;
  }

  /** S137: git's own `^{tree}` would read a whole tree before its size is known. */
  async #treeOf(treeish: string): Promise<ObjectInfo | undefined> {
    const info = await this.info(treeish);
    if (info?.type === "tree") return info;
    const commit = info?.type === "commit" ? info : info && (await this.commit(treeish));
    if (!commit || commit.size > COMMIT_MAX_BYTES) return undefined;
    const { bytes } = (await this.#ask("contents", commit.oid)) as GitObject;
    const id = /^tree ([0-9a-f]{40,64})\n/.exec(bytes.toString("latin1", 0, 80))?.[1];
    return id ? this.info(id) : undefined;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    keepIdleReader(this.#path, this.#reader);
  }

  #ask(command: "info" | "contents", name: string): Promise<ObjectInfo | GitObject | undefined> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED));
    return this.#reader.ask(command, name);
  }
}

export class ObjectTooLarge extends Error {
  override name = "ObjectTooLarge";
  readonly info: ObjectInfo;

  constructor(info: ObjectInfo) {
    super(`${info.type} ${info.oid} has ${info.size} bytes`);
    this.info = info;
  }
}

export class TooMuchToRead extends ServiceError {
  constructor(message: string) {
    super("invalid_request", message);
  }
}

/** `work` holds one of few slots, so it must not open objects or do slow work. */
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
