import type { Actor } from "../../../access/actor.ts";
import { findDelegate, recordDelegation } from "../../../access/delegation.ts";
import { requirePermission } from "../../../access/may.ts";
import { db, inTransaction } from "../../../db.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { repoResource } from "../../repos/repo.ts";
import type { Transfer } from "./transfer-authorization.ts";

/**
 * Who was given an upload address. It is good for a day. Meanwhile they may leave, or their app may be revoked, and they could go on filling
 * the owner's quota. So the right to write is checked again at each use, as for everything that acts later (decision 071).
 */
export type Uploader =
  | { userId: string; delegationId: string | null }
  /** A CI job: its token ends within the hour, and its upload may go on for as long as its publisher is trusted. */
  | { publisherId: string };

/** @throws ServiceError `unauthorized` for a token that was revoked meanwhile */
export async function uploaderOf(actor: Actor): Promise<Uploader | undefined> {
  if (actor.kind === "publisher") return { publisherId: actor.publisherId };
  if (actor.kind !== "person" && actor.kind !== "token") return undefined;
  const delegationId = await inTransaction((tx) => recordDelegation(tx, actor));
  return { userId: actor.userId, delegationId };
}

/** @throws ServiceError `not_found`, `forbidden`, `insufficient_scope` */
export async function requireUploader({ repoId, uploader }: Transfer): Promise<void> {
  const repo = await readRepo(repoId);
  if (!repo) throw notFound("Repository");
  const actor = uploader && (await actorNow(uploader, repoId));
  if (!actor) throw new ServiceError("forbidden", "This upload address is no longer valid. Request the transfer again.");
  await requirePermission(actor, "repo.write", repoResource(repo), { what: "Repository" });
}

async function actorNow(uploader: Uploader, repoId: string): Promise<Actor | undefined> {
  if (!("publisherId" in uploader)) {
    const { userId, delegationId } = uploader;
    // The person uploads at this moment, so the repository's organization may ask of them what it asks of members who come to it.
    return findDelegate({ createdById: userId, delegationId, ownerKind: "user", ownerId: userId });
  }
  const { publisherId } = uploader;
  const publisher = await db().trustedPublisher.findFirst({ where: { id: publisherId, repoId }, select: { createdById: true } });
  if (!publisher) return undefined;
  return { kind: "publisher", publisherId, trustedById: publisher.createdById ?? "", repoId, description: "" };
}
