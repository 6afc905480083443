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
  /** The whole message. */
  message: string;
};

/** What git log prints for each commit, with a NUL after each part: no part can contain one. */
export const COMMIT_FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B";
export const COMMIT_FIELDS = 9;

const TITLE_MAX_CHARACTERS = 500;
const MESSAGE_MAX_CHARACTERS = 64_000;
const TIME_MAX_MS = 8.64e15;

/** Reads the parts that `COMMIT_FORMAT` asks for. */
export function parseCommit(fields: readonly string[], messageMax = MESSAGE_MAX_CHARACTERS): Commit {
  const [sha = "", parents = "", authorName = "", authorEmail = "", authoredAt, name = "", email = "", at, body = ""] = fields;
  const message = body.trimEnd().slice(0, messageMax);
  return {
    sha,
    parents: parents === "" ? [] : parents.split(" "),
    author: { name: authorName, email: authorEmail, at: dateOf(authoredAt) },
    committer: { name, email, at: dateOf(at) },
    title: (message.trimStart().split("\n", 1)[0] ?? "").slice(0, TITLE_MAX_CHARACTERS).toWellFormed(),
    message: message.toWellFormed(),
  };
}

/** The lines of a message after its first. */
export function bodyOf({ message }: Commit): string {
  return message.trimStart().split("\n").slice(1).join("\n").trim();
}

/** The author of a commit can write any time into it. */
function dateOf(seconds: string | undefined): Date {
  const ms = Number(seconds) * 1000;
  return new Date(Math.abs(ms) <= TIME_MAX_MS ? ms : 0);
}

/** In a list of up to 250 commits: 64 KB each would be 16 MB for one small request (S137). A single commit is read in full. */
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
