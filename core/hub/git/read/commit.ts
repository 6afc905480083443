import { db } from "../../../db.ts";
import { env } from "../../../env.ts";

export type Signature = { name: string; email: string; at: Date };

export type CommitSummary = {
  sha: string;
  /** The first line of the message. */
  title: string;
  author: Signature;
};

export type Commit = CommitSummary & {
  parents: string[];
  committer: Signature;
  /** The whole message, up to 64,000 characters, or 4,000 in a list of several commits. */
  message: string;
};

/** The output of git log for each commit, with a NUL after each part: no part can contain one. */
export const COMMIT_FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B";
export const COMMIT_FIELDS = 9;

const TITLE_MAX_CHARACTERS = 500;
/** The maximum length of the name of an author or committer, and of their email address. */
const NAME_MAX_CHARACTERS = 200;
const MESSAGE_MAX_CHARACTERS = 64_000;
const TIME_MAX_MS = 8.64e15;

/** Reads the parts that `COMMIT_FORMAT` requests. */
export function parseCommit(fields: readonly string[], messageMax = MESSAGE_MAX_CHARACTERS): Commit {
  const [sha = "", parents = "", authorName = "", authorEmail = "", authoredAt, name = "", email = "", at, body = ""] = fields;
  const message = body.trimEnd().slice(0, messageMax);
  return {
    sha,
    parents: parents === "" ? [] : parents.split(" "),
    author: {
      name: startOf(authorName, NAME_MAX_CHARACTERS),
      email: startOf(authorEmail, NAME_MAX_CHARACTERS),
      at: dateOf(authoredAt),
    },
    committer: { name: startOf(name, NAME_MAX_CHARACTERS), email: startOf(email, NAME_MAX_CHARACTERS), at: dateOf(at) },
    title: startOf(message.trimStart().split("\n", 1)[0] ?? "", TITLE_MAX_CHARACTERS),
    message: message.toWellFormed(),
  };
}

/**
 * A copy of the beginning of a text that may be stored for long: a slice would keep the whole text in memory, which may be
 * megabytes (S137).
 */
export const startOf = (text: string, maxCharacters: number): string => Buffer.from(text.slice(0, maxCharacters)).toString();

/** The lines of a message after its first. */
export function bodyOf({ message }: Commit): string {
  return message.trimStart().split("\n").slice(1).join("\n").trim();
}

/** The author of a commit can write any time into it. */
function dateOf(seconds: string | undefined): Date {
  const ms = Number(seconds) * 1000;
  return new Date(Math.abs(ms) <= TIME_MAX_MS ? ms : 0);
}

/** The length of a message in a list of up to 250 commits, where 64 KB each would be 16 MB for one small request (S137). */
const LISTED_MESSAGE_MAX_CHARACTERS = 4_000;

/** Parses the output of `git log -z` with `COMMIT_FORMAT`. If there are several commits, their messages are cut. */
export function parseCommits(output: Buffer): Commit[] {
  const fields = output.toString("utf8").split("\0");
  const messageMax = fields.length > 2 * COMMIT_FIELDS ? LISTED_MESSAGE_MAX_CHARACTERS : MESSAGE_MAX_CHARACTERS;
  const commits: Commit[] = [];
  for (let at = 0; at + COMMIT_FIELDS <= fields.length; at += COMMIT_FIELDS) {
    commits.push(parseCommit(fields.slice(at, at + COMMIT_FIELDS), messageMax));
  }
  return commits;
}

/** An account here. */
export type Author = { id: string; username: string; avatarId: string | null };

/** The email address in our own signatures (core/hub/git/write/build-commit.ts): it contains the id and reveals nobody's email address. */
const OWN_ADDRESS = /^([0-9a-f]{24})\+[^@]*@users\.noreply\.(.+)$/;

/**
 * Finds the accounts behind addresses in commits, by address. Only our own addresses lead to an account: who owns any other address is
 * confidential (S115). As everywhere in git, the creator of a commit chooses its author.
 */
export async function findAuthors(addresses: Iterable<string>): Promise<Map<string, Author>> {
  const { hostname } = new URL(env().ORIGIN);
  const ids = new Map<string, string>();
  for (const address of addresses) {
    const [, id, host] = OWN_ADDRESS.exec(address) ?? [];
    if (id && host === hostname) ids.set(address, id);
  }
  if (ids.size === 0) return new Map();
  const users = await db().user.findMany({
    where: { id: { in: [...new Set(ids.values())] }, disabledAt: null },
    select: { id: true, username: true, avatarId: true },
  });
  const byId = new Map(users.map((user) => [user.id, user]));
  return new Map([...ids].flatMap(([address, id]) => (byId.has(id) ? [[address, byId.get(id) as Author]] : [])));
}
