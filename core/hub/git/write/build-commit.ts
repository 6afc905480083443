import { type Actor, actorId, type Publisher } from "../../../access/actor.ts";
import { isPresetName } from "../../../accounts/publishers/presets.ts";
import { publisherName } from "../../../accounts/publishers/publisher.ts";
import { db } from "../../../db.ts";
import { env } from "../../../env.ts";
import { invalidRequest, notFound, ServiceError } from "../../../errors.ts";
import { Folders } from "./folders.ts";
import { shownPath } from "./parse-path.ts";
import type { Import } from "./start-import.ts";

export type Change =
  | { kind: "put"; path: string; blob: string }
  | { kind: "delete"; path: string; what: "file" | "folder" | "entry" }
  /** @property from.commit the commit to copy from, or null for the new commit's parent */
  | { kind: "copy"; path: string; from: { path: string; commit: string | null } };

export type CommitPlan = {
  parent: string | null;
  changes: readonly Change[];
  message: string;
  signature: Signature;
};

export type BuiltCommit = {
  sha: string;
  /** Always true for a first commit. */
  isDifferent: boolean;
};

type Entry = { mode: string; type: string; oid: string };

/** S137: the questions of a large commit must not fill memory or block the event loop. */
const STEPS_AT_ONCE = 500;
const QUESTIONS_AT_ONCE = 1_000;

/** Git works while answers arrive, so many files need few round trips. Each commit has its own branch `name`. */
export async function buildCommit(git: Import, plan: CommitPlan, name: string): Promise<BuiltCommit> {
  const { parent, changes, message, signature } = plan;
  git.send(
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
  const folders = new Folders();
  for (let at = 0; at < changes.length; at += STEPS_AT_ONCE) {
    await perform(git, changes.slice(at, at + STEPS_AT_ONCE), { parent, folders });
  }
  const after = git.ask('ls ""');
  const sha = git.ask(`get-mark :${Number.MAX_SAFE_INTEGER}`);
  return { sha: await sha, isDifferent: (await before) !== (await after) };
}

async function perform(
  git: Import,
  changes: readonly Change[],
  { parent, folders }: { parent: string | null; folders: Folders },
): Promise<void> {
  const found = await Promise.all(changes.map((change) => sourceOf(git, change, parent)));
  let checks: Promise<void>[] = [];
  const check = (path: string, verify: (entry: Entry | undefined) => void) => {
    const checked = git.ask(`ls ${quote(path)}`).then((line) => verify(parseEntry(line)));
    // Nobody may await this check if a later step fails.
    checked.catch(() => undefined);
    checks.push(checked);
  };
  for (const [index, change] of changes.entries()) {
    const { path } = change;
    if (change.kind === "delete") {
      check(path, (entry) => requireDeletable(change, entry));
      git.send(`D ${quote(path)}`);
    } else {
      for (const folder of folders.add(path)) check(folder, (entry) => requireFolder(folder, path, entry));
      check(path, (entry) => requireNoFolder(path, entry));
      folders.replace(path);
      const { mode, oid } = found[index] as Entry;
      git.send(`M ${mode} ${oid} ${quote(path)}`);
    }
    if (checks.length < QUESTIONS_AT_ONCE && index < changes.length - 1) continue;
    const failed = (await Promise.allSettled(checks)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    checks = [];
  }
}

async function sourceOf(git: Import, change: Change, parent: string | null): Promise<Entry | undefined> {
  if (change.kind === "delete") return undefined;
  if (change.kind === "put") {
    const present = parent ? parseEntry(await git.ask(`ls ${parent} ${quote(change.path)}`)) : undefined;
    return { mode: present?.mode === "100755" ? "100755" : "100644", type: "blob", oid: change.blob };
  }
  const { path, commit = parent } = { ...change.from, commit: change.from.commit ?? parent };
  const source = commit ? parseEntry(await git.ask(`ls ${commit} ${quote(path)}`)) : undefined;
  if (!source) throw missing(path);
  if (source.type !== "blob") throw invalidRequest(`${shownPath(path)} is a folder: copy its files one by one.`);
  return source;
}

function requireDeletable({ path, what }: Change & { kind: "delete" }, entry: Entry | undefined): void {
  if (!entry) throw missing(path);
  const isFolder = entry.type === "tree";
  if (isFolder && what === "file") throw invalidRequest(`${shownPath(path)} is a folder, not a file.`);
  if (!isFolder && what === "folder") throw invalidRequest(`${shownPath(path)} is a file, not a folder.`);
}

function requireFolder(folder: string, path: string, entry: Entry | undefined): void {
  if (entry && entry.type !== "tree") throw belowFile(folder, path);
}

export const belowFile = (file: string, path: string): ServiceError =>
  invalidRequest(`${shownPath(file)} is a file, so ${shownPath(path)} cannot be below it.`);

function requireNoFolder(path: string, entry: Entry | undefined): void {
  if (entry?.type !== "tree") return;
  throw invalidRequest(`${shownPath(path)} is a folder: delete it before you put a file there.`);
}

function missing(path: string): ServiceError {
  const { wireCode } = notFound("Entry");
  return new ServiceError("not_found", `${shownPath(path)} does not exist.`, wireCode && { wireCode });
}

/** The line is `100644 blob <id>\t<path>` or `missing <path>`. */
function parseEntry(line: string): Entry | undefined {
  const [, mode, type, oid] = /^(\d{6}) (\w+) ([0-9a-f]{40})\t/.exec(line) ?? [];
  return mode && type && oid ? { mode, type, oid } : undefined;
}

const quote = (path: string): string => `"${path.replace(/["\\]/g, "\\$&")}"`;

const SUMMARY_MAX_CHARACTERS = 1_000;
const DESCRIPTION_MAX_CHARACTERS = 64 * 1024;

export function commitMessage(summary: string, description = ""): string {
  const line = text("summary", summary, SUMMARY_MAX_CHARACTERS)
    .split(/\n\s*/)
    .map((part) => part.trimEnd())
    .join(" ");
  if (line === "") throw invalidRequest("Describe the commit in one line.", "summary");
  const rest = text("description", description, DESCRIPTION_MAX_CHARACTERS);
  return rest === "" ? `${line}\n` : `${line}\n\n${rest}\n`;
}

function text(field: string, value: string, maxCharacters: number): string {
  if (value.length > maxCharacters)
    throw invalidRequest(`Shorten the ${field} to at most ${maxCharacters.toLocaleString("en")} characters.`, field);
  if (!value.isWellFormed() || value.includes("\0")) {
    throw invalidRequest(`The ${field} has characters that are not valid text.`, field);
  }
  return value.replace(/\r\n?/g, "\n").trim();
}

export function tagMessage(message: string): string {
  const trimmed = text("message", message, DESCRIPTION_MAX_CHARACTERS);
  return trimmed === "" ? "" : `${trimmed}\n`;
}

/** In git's format: `Name <address> seconds zone`. */
export type Signature = string;

/** Users' own email addresses are private, so the address receives no messages. */
export async function signatureOf(actor: Actor): Promise<Signature> {
  if (actor.kind === "publisher") return signatureOfJob(actor);
  const id = actorId(actor);
  const user = id ? await db().user.findUnique({ where: { id }, select: { id: true, username: true, fullName: true } }) : null;
  const name = user ? user.fullName || user.username : env().BRAND_NAME;
  return sign(name, user ? noReplyAddress(user) : `noreply@${noReplyHost()}`);
}

async function signatureOfJob({ publisherId }: Publisher): Promise<Signature> {
  const publisher = await db().trustedPublisher.findUnique({ where: { id: publisherId }, select: { preset: true } });
  const name = publisherName(publisher && isPresetName(publisher.preset) ? publisher.preset : "oidc");
  return sign(name, `oidc+${publisherId}@${noReplyHost()}`);
}

function noReplyAddress({ id, username }: { id: string; username: string }): string {
  return `${id}+${username}@${noReplyHost()}`;
}

const noReplyHost = (): string => `users.noreply.${new URL(env().ORIGIN).hostname}`;

function sign(name: string, address: string): Signature {
  // Git removes some of these characters itself. Others would end the line or begin the address.
  const plain = name
    .replace(/[\p{Cc}<>]/gu, " ")
    .replace(/^[\s.,:;"'\\]+|(?<![\s.,:;"'\\])[\s.,:;"'\\]+$/g, "")
    .trim();
  return `${plain || "unknown"} <${address}> ${Math.floor(Date.now() / 1000)} +0000`;
}
