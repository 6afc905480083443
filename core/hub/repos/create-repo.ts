import { isRepoType, type RepoType } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { recordEvent } from "../../events/record-event.ts";
import { newId } from "../../ids.ts";
import { openRepository } from "../git/repository.ts";
import { lockOwner } from "../owners/lock-owner.ts";
import { parseRepoName } from "./parse-repo-name.ts";
import { readRepo } from "./read-repos.ts";
import { ownerColumns, type Repo, repoPayload } from "./repo.ts";
import { parseSdk } from "./repo-settings.ts";

/** Enough for whoever moves everything they have in here; a script that has gone wild stops somewhere. */
const CREATIONS: ThrottleLimit = { limit: 1_000, windowSeconds: 60 * 60 };

export type NewRepo = {
  type: RepoType;
  /** The handle of a user or an organization. */
  owner: string;
  name: string;
  isPrivate?: boolean;
  /** Of a Space. */
  sdk?: string;
};

/**
 * Makes an empty repository under a user or an organization.
 * @throws ServiceError `invalid_request`, `conflict` (the name is taken), `not_found` (the owner), `forbidden`, `insufficient_scope`,
 * `rate_limited`
 */
export async function createRepo(actor: Actor, input: NewRepo, from: RequestOrigin): Promise<Repo> {
  const { type, isPrivate = false } = input;
  if (!isRepoType(type)) throw new ServiceError("invalid_request", "Choose model, dataset or space.", { field: "type" });
  const { spelled, canonical } = parseRepoName(input.name);
  const sdk = parseSdk(input.sdk ?? null, type);
  const owner = await findOwner(input.owner);
  if (!owner) throw notFound("Owner");
  await requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner" });
  if (actor.kind === "person" || actor.kind === "token")
    await consumeThrottle(throttleKey("repo_create", actor.userId), CREATIONS);
  const id = newId();
  const repo = await db().$transaction(async (tx) => {
    await lockOwner(tx, owner);
    const { count } = await tx.repo.createMany({
      data: [
        {
          id,
          type,
          ownerId: owner.id,
          ownerKind: owner.kind,
          name: spelled,
          nameCanonical: canonical,
          isPrivate,
          sdk,
          tags: [],
          createdById: actorId(actor),
          createdByClientId: clientIdOf(actor),
        },
      ],
      skipDuplicates: true,
    });
    if (count === 0)
      throw new ServiceError("conflict", `${owner.handle} already has a ${type} named ${spelled}.`, { field: "name" });
    // Once the name is ours: a move away from it that was under way has left it behind by now.
    await tx.repoFormerName.deleteMany({ where: { type, ownerId: owner.id, nameCanonical: canonical } });
    const made = (await readRepo(id, tx)) as Repo;
    await recordAuditEvent(tx, {
      type: "repo.create",
      actorId: actorId(actor),
      orgId: owner.kind === "organization" ? owner.id : null,
      clientId: clientIdOf(actor),
      data: { repo: made.fullName, type, isPrivate },
      from,
    });
    await recordEvent(tx, {
      payload: { event: { scope: "repo", action: "create" }, repo: repoPayload(made) },
      actorId: actorId(actor),
    });
    return made;
  });
  await openRepository(repo);
  return repo;
}
