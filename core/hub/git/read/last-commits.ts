import { COMMIT_FIELDS, COMMIT_FORMAT, type CommitSummary, parseCommit } from "./commit.ts";
import { OutputSplitter } from "./output-splitter.ts";
import { spawnWalkGit, type Walked, walker } from "./walk.ts";

const LAST_COMMITS_MAX_MS = 5_000;
const WALK_MAX_BYTES = 64 * 1024 * 1024;

type LastCommits = ReadonlyMap<string, CommitSummary>;

const findOnce = walker<LastCommits>({ max: 500 });

type LastCommitsQuery = {
  folder: string;
  paths: readonly string[];
  maxMs?: number;
  waitMaxMs?: number;
};

export async function findLastCommits(
  path: string,
  commit: string,
  { folder, paths, maxMs = LAST_COMMITS_MAX_MS, waitMaxMs }: LastCommitsQuery,
): Promise<LastCommits> {
  if (paths.length === 0) return new Map();
  const walk = () => walkBack(path, commit, folder, new Set(paths), maxMs);
  return findOnce({ directory: path, of: [commit, folder, ...paths], walk, waitMaxMs });
}

async function walkBack(
  path: string,
  commit: string,
  folder: string,
  wanted: Set<string>,
  maxMs: number,
): Promise<Walked<LastCommits>> {
  const found = new Map<string, CommitSummary>();
  const longest = Math.max(...[...wanted].map(({ length }) => length));
  const args = ["log", "-z", COMMIT_FORMAT, "--raw", "--no-abbrev", "--no-renames", "--diff-merges=dense-combined"];
  const only = folder === "" ? [] : ["--", folder];
  const child = await spawnWalkGit(path, [...args, "--end-of-options", commit, ...only], {
    env: { GIT_LITERAL_PATHSPECS: "1" },
    maxMs,
  });
  const until = Date.now() + maxMs;
  child.once("error", () => undefined);
  child.stdin.on("error", () => undefined).end();
  child.stderr.resume();
  let current: CommitSummary | undefined;
  try {
    for await (const record of recordsOf(child.stdout)) {
      if (Date.now() >= until) break;
      if (Array.isArray(record)) {
        current = summaryOf(record);
        if (!found.has(folder)) found.set(folder, current);
      } else if (current) assignCommit(record.slice(0, longest + 1), current, wanted, found);
      if (wanted.size === 0) break;
    }
  } finally {
    child.kill("SIGKILL");
    // Unread output would keep the stream open.
    child.stdout.destroy();
  }
  return { value: found, isWhole: wanted.size === 0 };
}

/** @param changed may be cut, because a pusher may nest thousands of folders (S137) */
function assignCommit(changed: string, commit: CommitSummary, wanted: Set<string>, found: Map<string, CommitSummary>): void {
  for (let end = changed.length; end > 0; end = changed.lastIndexOf("/", end - 1)) {
    const one = changed.slice(0, end);
    // A copy, because a slice would keep all of `changed` in memory.
    if (wanted.delete(one)) found.set(Buffer.from(one).toString(), commit);
  }
}

function summaryOf(fields: string[]): CommitSummary {
  const { sha, title, author } = parseCommit(fields);
  return { sha, title, author };
}

async function* recordsOf(output: AsyncIterable<Buffer>): AsyncGenerator<string[] | string> {
  const tokens = tokensOf(output);
  const next = async () => (await tokens.next()).value as string | undefined;
  for (let token = await next(); token !== undefined; token = await next()) {
    const text = token.trimStart();
    if (text.startsWith(":")) {
      const changed = await next();
      if (changed !== undefined) yield changed;
    } else if (text !== "") {
      const fields = [text];
      while (fields.length < COMMIT_FIELDS) fields.push((await next()) ?? "");
      yield fields;
    }
  }
}

async function* tokensOf(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = new OutputSplitter();
  let size = 0;
  for await (const chunk of output) {
    size += chunk.length;
    if (size > WALK_MAX_BYTES) return;
    yield* splitter.split(chunk);
  }
}
