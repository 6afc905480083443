import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { isServiceError } from "../../../errors.ts";
import { log } from "../../../log.ts";
import { type Hold, holdStorage, requireRoom, roomOf } from "../../../storage/hold-storage.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { countObjects } from "../count-objects.ts";
import { authorShare, holdProposal, proposalRefusal } from "../hold-proposal.ts";
import { REF_BYTES } from "../refs/loose-refs.ts";
import type { Refusal } from "./check-arrival.ts";
import { pushMaxBytes } from "./transfer-settings.ts";

/** The largest pack of a push without new objects. */
const EMPTY_PACK_BYTES = 64 * 1024;

/** A push below one step reserves nothing. Few such pushes run at once, so they exceed the quota by little. */
const STEP_BYTES = 64 * 1024 * 1024;
const CHECK_EVERY_MS = 500;

/** Git must not write content that the service would refuse afterwards. */
export async function pushInputMax(actor: Actor, repo: Repo): Promise<number> {
  const { isOutsider } = await accessOf(actor, repo);
  const room = isOutsider ? await authorShare(repo.owner) : await roomOf(repo.owner);
  return room === undefined ? pushMaxBytes() : Math.min(pushMaxBytes(), Math.floor(room) + EMPTY_PACK_BYTES);
}

/**
 * Otherwise simultaneous large pushes would fill the disk beyond the quota.
 * @returns a function that releases the reservation, and returns the refusal if storage ran out
 */
export function holdArriving(
  actor: Actor,
  repo: Repo,
  receivedBytes: () => number,
  onFull: () => void,
  { stepBytes = STEP_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
): () => Promise<Refusal | undefined> {
  const holds: Hold[] = [];
  let refusal: Refusal | undefined;
  let checking: Promise<void> | undefined;
  const check = async () => {
    if (receivedBytes() <= stepBytes || (await accessOf(actor, repo)).isOutsider) return;
    while (receivedBytes() > (holds.length + 1) * stepBytes) {
      try {
        holds.push(await holdStorage(repo.owner, stepBytes, "this push"));
      } catch (error) {
        refusal = (await checkReceivedSize(actor, repo, receivedBytes())) ?? refusalOf(error);
        clearInterval(timer);
        return onFull();
      }
    }
  };
  const timer = setInterval(() => {
    checking ??= check()
      .catch((err: unknown) => log().warn({ err, repo: repo.id }, "storage for a push could not be reserved"))
      .finally(() => {
        checking = undefined;
      });
  }, checkEveryMs);
  return async () => {
    clearInterval(timer);
    await checking;
    await Promise.all(holds.map((hold) => hold.release()));
    return refusal;
  };
}

/** Without free storage, a push may still add this many refs more than it deletes. */
const FREE_REFS = 16;

export async function checkStorage(
  actor: Actor,
  repo: Repo,
  { path, quarantine, addedRefs }: { path: string; quarantine: string | undefined; addedRefs: number },
): Promise<{ refusal?: Refusal; hold?: Hold }> {
  const objects = quarantine === undefined ? { bytes: 0 } : await countObjects(path, quarantine);
  const bytes = objects.bytes + (addedRefs > FREE_REFS ? addedRefs * REF_BYTES : 0);
  if (bytes === 0) return {};
  try {
    const { isOutsider } = await accessOf(actor, repo);
    return {
      hold: isOutsider ? await holdProposal(actor, repo, bytes, "this push") : await holdStorage(repo.owner, bytes, "this push"),
    };
  } catch (error) {
    return { refusal: refusalOf(error) };
  }
}

/** Decides about a push of this size whose pack is not read to its end. */
export async function checkReceivedSize(actor: Actor, repo: Repo, bytes: number): Promise<Refusal | undefined> {
  try {
    const { isOutsider } = await accessOf(actor, repo);
    if (isOutsider && bytes > (await authorShare(repo.owner))) throw proposalRefusal(repo.owner, "this push");
    await requireRoom(repo.owner, bytes, "this push", { isOutsider });
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

/** A pull request's author must not learn how much the repository's owner stores. */
const accessOf = async (actor: Actor, repo: Repo) => ({ isOutsider: !(await may(actor, "repo.write", repoResource(repo))) });

function refusalOf(error: unknown): Refusal {
  if (!isServiceError(error) || error.code !== "storage_full") throw error;
  return { reason: "no storage left", messages: ["", ...error.message.split(/(?<=\.) (?=[A-Z])/), ""] };
}
