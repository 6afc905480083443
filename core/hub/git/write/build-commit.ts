import { notFound, ServiceError } from "../../../errors.ts";
import { shownPath } from "./parse-path.ts";
import type { Signature } from "./signature.ts";
import type { Import } from "./start-import.ts";

/** A step of a commit; its content is written already. */
export type Change =
  | { kind: "put"; path: string; blob: string }
  | { kind: "delete"; path: string; what: "file" | "folder" | "entry" }
  /** @property commit the source; null = the commit's own parent */
  | { kind: "copy"; path: string; from: { path: string; commit: string | null } };

export type CommitPlan = {
  parent: string | null;
  changes: readonly Change[];
  message: string;
  signature: Signature;
};

export type BuiltCommit = {
  sha: string;
  /** Whether its files differ from those of its parent; a first commit always does. */
  isDifferent: boolean;
};

type Entry = { mode: string; type: string; oid: string };

/**
 * Builds a commit in a running import. The commit is on no branch: the caller decides what happens with it. Git performs the steps one
 * after the other while its answers arrive, so that 10,000 files need no more round trips than one.
 *
 * @param name for a ref of the import's own repository; a different one for each commit
 * @throws ServiceError `invalid_request` for a file where a folder is, or the reverse; `not_found` for a missing source
 */
export async function buildCommit(git: Import, plan: CommitPlan, name: string): Promise<BuiltCommit> {
  const { parent, changes, message, signature } = plan;
  const found = await Promise.all(changes.map((change) => sourceOf(git, change, parent)));
  git.tell(
    [
      `commit refs/heads/${name}`,
      `mark :${Number.MAX_SAFE_INTEGER}`,
      `author ${signature}`,
      `committer ${signature}`,
      `data ${Buffer.byteLength(message)}`,
      message + (parent ? `from ${parent}` : ""),
    ].join("\n"),
  );
  const before = parent ? git.ask('ls ""') : undefined;
  const checks: Promise<void>[] = [];
  const folders = new Set<string>();
  const look = (path: string) => git.ask(`ls ${quote(path)}`).then(parseEntry);
  changes.forEach((change, index) => {
    const { path } = change;
    if (change.kind === "delete") {
      checks.push(look(path).then((entry) => requireDeletable(change, entry)));
      git.tell(`D ${quote(path)}`);
      return;
    }
    for (const folder of foldersOf(path)) {
      if (folders.has(folder)) continue;
      folders.add(folder);
      checks.push(look(folder).then((entry) => requireFolder(folder, path, entry)));
    }
    checks.push(look(path).then((entry) => requireNoFolder(path, entry)));
    folders.delete(path);
    const entry = found[index] as Entry;
    git.tell(`M ${entry.mode} ${entry.oid} ${quote(path)}`);
  });
  const after = git.ask('ls ""');
  const sha = git.ask(`get-mark :${Number.MAX_SAFE_INTEGER}`);
  // Reports the first failure in the order of the steps.
  const failed = (await Promise.allSettled(checks)).find((check) => check.status === "rejected");
  if (failed) throw failed.reason;
  return { sha: await sha, isDifferent: (await before) !== (await after) };
}

/** What a step puts at its path. An executable file stays executable when its content is replaced. */
async function sourceOf(git: Import, change: Change, parent: string | null): Promise<Entry | undefined> {
  if (change.kind === "delete") return undefined;
  if (change.kind === "put") {
    const present = parent ? parseEntry(await git.ask(`ls ${parent} ${quote(change.path)}`)) : undefined;
    return { mode: present?.mode === "100755" ? "100755" : "100644", type: "blob", oid: change.blob };
  }
  const { path, commit = parent } = { ...change.from, commit: change.from.commit ?? parent };
  const source = commit ? parseEntry(await git.ask(`ls ${commit} ${quote(path)}`)) : undefined;
  if (!source) throw missing(path);
  if (source.type !== "blob")
    throw new ServiceError("invalid_request", `${shownPath(path)} is a folder: copy its files one by one.`);
  return source;
}

function requireDeletable({ path, what }: Change & { kind: "delete" }, entry: Entry | undefined): void {
  if (!entry) throw missing(path);
  const isFolder = entry.type === "tree";
  if (isFolder && what === "file") throw new ServiceError("invalid_request", `${shownPath(path)} is a folder, not a file.`);
  if (!isFolder && what === "folder") throw new ServiceError("invalid_request", `${shownPath(path)} is a file, not a folder.`);
}

function requireFolder(folder: string, path: string, entry: Entry | undefined): void {
  if (!entry || entry.type === "tree") return;
  throw new ServiceError("invalid_request", `${shownPath(folder)} is a file, so that ${shownPath(path)} cannot be below it.`);
}

function requireNoFolder(path: string, entry: Entry | undefined): void {
  if (entry?.type !== "tree") return;
  throw new ServiceError("invalid_request", `${shownPath(path)} is a folder: delete it before you put a file there.`);
}

function missing(path: string): ServiceError {
  const { wireCode } = notFound("Entry");
  return new ServiceError("not_found", `There is nothing at ${shownPath(path)}.`, wireCode && { wireCode });
}

/** `100644 blob <id>\t<path>`, or `missing <path>`. */
function parseEntry(line: string): Entry | undefined {
  const [, mode, type, oid] = /^(\d{6}) (\w+) ([0-9a-f]{40})\t/.exec(line) ?? [];
  return mode && type && oid ? { mode, type, oid } : undefined;
}

function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** In git's quoting; paths contain no control characters (parse-path.ts). */
const quote = (path: string): string => `"${path.replace(/["\\]/g, "\\$&")}"`;
