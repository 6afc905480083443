import type { Actor } from "../../../access/actor.ts";
import { type Db, inTransaction } from "../../../db.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { findMissingPointers, MISSING_MAX } from "../../lfs/find-missing-pointers.ts";
import { findStore } from "../../lfs/proposals/proposal-store.ts";
import { claimFiles } from "../../lfs/proposals/proposed-files.ts";
import { GitFailed, gitLines, quarantined, RanOutOfTime, runGit } from "../run-git.ts";
import type { Arrival } from "./hook-channel.ts";
import type { Command } from "./read-commands.ts";
import { fileMaxBytes, unpackedMaxBytes } from "./transfer-settings.ts";

const MIB = 1024 * 1024;
const NAMES_MAX_BYTES = 64 * MIB;
const OBJECTS_MAX = 1_000_000;

export type Refusal = { reason: string; messages: string[]; reasons?: ReadonlyMap<Command, string> };

type PushTarget = { path: string; repoId: string; actor: Actor };

/**
 * S137: unpacked objects could fill the disk.
 * @returns undefined if the push may proceed
 */
export async function checkArrival(
  { path, repoId, actor }: PushTarget,
  arrival: Arrival,
  commands: readonly Command[],
): Promise<Refusal | undefined> {
  if (arrival.isUnreadable) return { reason: "the objects could not be read", messages: [] };
  if (arrival.objects > OBJECTS_MAX) {
    const [most, sent] = [OBJECTS_MAX, arrival.objects].map((count) => count.toLocaleString("en"));
    const messages = [
      `This push has ${sent} objects, but at most ${most} are allowed. Push older commits first:`,
      "  git push <remote> <older commit>:refs/heads/<branch>",
    ];
    return { reason: "too many objects", messages };
  }
  if (arrival.unpackedBytes > unpackedMaxBytes()) {
    const most = `${Math.floor(unpackedMaxBytes() / MIB)} MiB`;
    return { reason: "too large", messages: [`This push unpacks to more than ${most}. Split it into several pushes.`] };
  }
  if (arrival.long) {
    const { type, oid } = arrival.long;
    const message =
      type === "tree"
        ? `The folder ${oid} has too many entries: its list is larger than 16 MiB. Spread its files over several folders, then push.`
        : `The ${type} ${oid} is larger than 1 MiB. Create it again with a shorter message, then push.`;
    return { reason: `a ${type === "tree" ? "folder" : type} is too large`, messages: [message] };
  }
  if (!(await areCommits(path, arrival, commands)))
    return { reason: "a pull request's ref must point to a commit", messages: [] };
  if (arrival.large.length === 0) return checkPointers({ path, repoId, actor }, arrival, commands);
  const names = await namesOf(path, arrival, arrival.large, commands);
  const most = `${Math.floor(fileMaxBytes() / MIB)} MiB`;
  return {
    reason: "a file is too large",
    messages: [
      `Files in git can be at most ${most}. These are larger:`,
      ...arrival.large.map(({ oid, bytes }) => `  ${names.get(oid) ?? oid} (${(bytes / MIB).toFixed(1)} MiB)`),
      "Keep them in Git LFS: git lfs migrate import --include=<file> moves them there, including in existing commits.",
    ],
  };
}

/** Git accepts a tag as a pull request's head. After a merge, nobody could clone a branch with such a parent. */
async function areCommits(path: string, { quarantine }: Arrival, commands: readonly Command[]): Promise<boolean> {
  const heads = commands.flatMap(({ ref, newSha }) => (newSha && numOfPullRequestRef(ref) !== undefined ? [newSha] : []));
  if (heads.length === 0) return true;
  const output = await runGit(path, ["cat-file", "--batch-check=%(objecttype)"], {
    input: `${heads.join("\n")}\n`,
    ...(quarantine && { env: quarantined(path, quarantine) }),
  });
  const types = output.toString("latin1").split("\n").filter(Boolean);
  return types.length === heads.length && types.every((type) => type === "commit");
}

const NAMED_MAX = 10;

async function checkPointers(
  { path, repoId, actor }: PushTarget,
  arrival: Arrival,
  commands: readonly Command[],
): Promise<Refusal | undefined> {
  if (!arrival.quarantine) return undefined;
  const nums = commands.flatMap(({ ref, newSha }) => (newSha ? [numOfPullRequestRef(ref)] : []));
  const isProposal = nums.every((num) => num !== undefined);
  const storeId = isProposal ? await findStore(actor, repoId) : undefined;
  const { missing, proposed } = await findMissingPointers(path, arrival.quarantine, { repoId, storeId });
  if (missing.length === 0) {
    const claim = async (tx: Db) => {
      for (const num of nums) if (num !== undefined) await claimFiles(tx, { repoId, num, storeId }, proposed);
    };
    if (proposed.length > 0) await inTransaction(claim);
    return undefined;
  }
  const named = missing.slice(0, NAMED_MAX).map(({ blob, oid }) => ({ oid: blob, object: oid }));
  const names = await namesOf(path, arrival, named, commands);
  const more = missing.length - named.length;
  return {
    reason: "large files are missing",
    messages: [
      "The content of these Git LFS files was not uploaded:",
      ...named.map(({ oid, object }) => `  ${names.get(oid) ?? oid} (${object})`),
      ...(more > 0 ? [`  and ${missing.length >= MISSING_MAX ? "at least " : ""}${more} more`] : []),
      "Upload it with: git lfs push --all <remote>. Then push again.",
    ],
  };
}

async function namesOf(
  path: string,
  { quarantine }: Arrival,
  blobs: readonly { oid: string }[],
  commands: readonly Command[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  if (!quarantine) return names;
  const tips = commands.flatMap(({ newSha }) => (newSha ? [newSha] : []));
  const wanted = new Set(blobs.map(({ oid }) => oid));
  const listed = gitLines(path, ["rev-list", "--objects", "--stdin", "--not", "--all"], {
    // Before version 2.42, git reads no options from this input.
    input: `${tips.join("\n")}\n`,
    env: quarantined(path, quarantine),
    maxBytes: NAMES_MAX_BYTES,
    timeoutMs: 20_000,
    isLimited: true,
  });
  try {
    for await (const lines of listed) {
      for (const line of lines) {
        const oid = line.slice(0, 40);
        if (wanted.has(oid) && line.length > 41) names.set(oid, line.slice(41, 241).replace(/\p{Cc}/gu, "?"));
      }
      if (names.size === wanted.size) break;
    }
  } catch (error) {
    if (!(error instanceof GitFailed) && !(error instanceof RanOutOfTime)) throw error;
  }
  return names;
}
