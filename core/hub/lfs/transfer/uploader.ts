import type { Actor } from "../../../access/actor.ts";
import { findDelegate, recordDelegation } from "../../../access/delegation.ts";
import { findCiTokenById } from "../../../accounts/tokens/find-ci-token.ts";
import { db, inTransaction } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { requireUpload } from "../proposals/proposal-store.ts";
import type { Transfer } from "./transfer-authorization.ts";

/** The uploader is checked again at each use of an upload URL, which is valid for a day (decision 071). */
export type Uploader =
  | { userId: string; delegationId: string | null }
  /** A CI job that acts for no user. Its token may expire before the upload ends. */
  | { publisherId: string }
  /** A CI job that reads as a user. */
  | { ciTokenId: string };

export async function uploaderOf(actor: Actor): Promise<Uploader | undefined> {
  if (actor.kind === "publisher") return { publisherId: actor.publisherId };
  if (actor.kind !== "person" && actor.kind !== "token") return undefined;
  if (actor.kind === "token" && actor.isReadOnly) return { ciTokenId: actor.tokenId };
  const delegationId = await inTransaction((tx) => recordDelegation(tx, actor));
  return { userId: actor.userId, delegationId };
}

export async function requireUploader({ repoId, uploader }: Transfer): Promise<void> {
  const actor = uploader && (await actorNow(uploader));
  if (!actor) throw new ServiceError("forbidden", "This upload URL is no longer valid. Request the transfer again.");
  await requireUpload(actor, repoId);
}

/**
 * Checks no permissions.
 * @returns undefined if the uploader is gone
 */
export async function actorNow(uploader: Uploader): Promise<Actor | undefined> {
  if ("ciTokenId" in uploader) return readingJob(uploader.ciTokenId);
  if ("userId" in uploader) {
    const { userId, delegationId } = uploader;
    // The upload acts for the user, so an organization's sign-in requirements apply.
    return findDelegate({ createdById: userId, delegationId, ownerKind: "user", ownerId: userId });
  }
  const { publisherId } = uploader;
  const publisher = await db().trustedPublisher.findUnique({
    where: { id: publisherId },
    select: { createdById: true, repoId: true },
  });
  if (!publisher?.repoId) return undefined;
  const { createdById, repoId } = publisher;
  return { kind: "publisher", publisherId, trustedById: createdById ?? "", repoId, description: "" };
}

async function readingJob(tokenId: string): Promise<Actor | undefined> {
  const userId = (await findCiTokenById(tokenId))?.user?.id;
  if (!userId) return undefined;
  return { kind: "token", userId, tokenId, scopes: ["gated-repos"], orgIds: [], clientId: null, isReadOnly: true };
}
