import { db } from "../../../db.ts";
import { env } from "../../../env.ts";

export type Signature = { name: string; email: string; at: Date };

export type CommitSummary = {
  sha: string;
  title: string;
  author: Signature;
};

export type Commit = CommitSummary & {
  parents: string[];
  committer: Signature;
  message: string;
};

/** Each part ends with a NUL, which no part can contain. */
export const COMMIT_FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B";
export const COMMIT_FIELDS = 9;

const TITLE_MAX_CHARACTERS = 500;
const NAME_MAX_CHARACTERS = 200;
const MESSAGE_MAX_CHARACTERS = 64_000;
/** S137: a commit of one megabyte can name 20,000 parents. */
const PARENTS_MAX = 100;
const TIME_MAX_MS = 8.64e15;

export function parseCommit(fields: readonly string[], messageMax = MESSAGE_MAX_CHARACTERS): Commit {
  const [sha = "", parents = "", authorName = "", authorEmail = "", authoredAt, name = "", email = "", at, body = ""] = fields;
  const message = body.trimEnd().slice(0, messageMax);
  return {
    sha,
    parents: parents === "" ? [] : parents.split(" ", PARENTS_MAX),
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

/** A copy, because a slice would keep the whole text in memory (S137). */
export const startOf = (text: string, maxCharacters: number): string => Buffer.from(text.slice(0, maxCharacters)).toString();

export function bodyOf({ message }: Commit): string {
  return message.trimStart().split("\n").slice(1).join("\n").trim();
}

/** A commit's author can write any time into the commit. */
function dateOf(seconds: string | undefined): Date {
  const ms = Number(seconds) * 1000;
  return new Date(Math.abs(ms) <= TIME_MAX_MS ? ms : 0);
}

/** S137: a list of 250 full messages would have 16 MB for one small request, and ten times as much in a page. */
const LISTED_MESSAGE_MAX_CHARACTERS = 4_000;
const LISTED_MESSAGES_MAX_CHARACTERS = 128 * 1024;
const LISTED_TITLE_MAX_CHARACTERS = 100;

export function parseCommits(output: Buffer): Commit[] {
  const fields = output.toString("utf8").split("\0");
  const isList = fields.length > 2 * COMMIT_FIELDS;
  let left = LISTED_MESSAGES_MAX_CHARACTERS;
  const commits: Commit[] = [];
  for (let at = 0; at + COMMIT_FIELDS <= fields.length; at += COMMIT_FIELDS) {
    const listedMax = Math.max(Math.min(LISTED_MESSAGE_MAX_CHARACTERS, left), LISTED_TITLE_MAX_CHARACTERS);
    const commit = parseCommit(fields.slice(at, at + COMMIT_FIELDS), isList ? listedMax : MESSAGE_MAX_CHARACTERS);
    left -= commit.message.length;
    commits.push(commit);
  }
  return commits;
}

export type Author = { id: string; username: string; avatarId: string | null };

const OWN_ADDRESS = /^([0-9a-f]{24})\+[^@]*@users\.noreply\.(.+)$/;

/** Only this service's addresses lead to an account: the owner of any other address is confidential (S115). */
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
