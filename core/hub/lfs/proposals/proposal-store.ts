import { type Actor, actorId } from "../../../access/actor.ts";
import { may, requirePermission } from "../../../access/may.ts";
import { lockOwner } from "../../../accounts/handles/find-owner.ts";
import { type Db, db } from "../../../db.ts";
import { conflict, notFound } from "../../../errors.ts";
import { newId } from "../../../ids.ts";
import { requireChangeable } from "../../git/refs/require-changeable.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";

/** A store has one user's uploads for pull requests to one repository. It is a row of `repo` without a URL (decision 038). */
const STORE_TYPE = "proposals";

/**
 * @returns the repository if the actor may write to it, else the actor's store with the repository's name
 * @param ref only actors who may write can upload for a branch or a tag
 */
export async function uploadTargetOf(actor: Actor, repo: Repo, ref?: string): Promise<Repo> {
  const resource = repoResource(repo);
  if (await may(actor, "repo.write", resource)) return repo;
  const userId = userOf(actor);
  const isForBranch = ref?.startsWith("refs/heads/") || ref?.startsWith("refs/tags/");
  if (isForBranch || userId === undefined || !(await may(actor, "repo.propose_files", resource))) {
    await requirePermission(actor, "repo.write", resource, { what: "Repository" });
  }
  requireProposals(repo);
  const name = nameOf(userId as string, repo.id);
  const { id } = await db().$transaction(async (tx) => {
    if (!(await lockOwner(tx, { kind: "user", id: name.ownerId }))) throw notFound("Repository");
    return tx.repo.upsert({
      where: { ownerId_type_nameCanonical: name },
      create: { id: newId(), ...name, ownerKind: "user", name: repo.id, isPrivate: true, proposedToId: repo.id },
      // Postpones the sweep, which deletes empty stores that were not used for a while.
      update: { updatedAt: new Date() },
      select: { id: true },
    });
  });
  const store = await readRepo(id);
  if (!store) throw notFound("Repository");
  return { ...repo, id, owner: store.owner, proposedToId: repo.id };
}

export async function findStore(actor: Actor, repoId: string, tx: Db = db()): Promise<string | undefined> {
  const userId = userOf(actor);
  if (userId === undefined) return undefined;
  const where = { ownerId_type_nameCanonical: nameOf(userId, repoId) };
  return (await tx.repo.findUnique({ where, select: { id: true } }))?.id;
}

/** Call this at each use of an upload URL or token (S135). `id` names a repository or a store. */
export async function requireUpload(actor: Actor, id: string): Promise<Repo> {
  const target = await readRepo(id);
  if (!target) throw notFound("Repository");
  if (target.proposedToId === null) {
    await requirePermission(actor, "repo.write", repoResource(target), { what: "Repository" });
    return target;
  }
  const repo = await readRepo(target.proposedToId);
  if (!repo || target.owner.id !== userOf(actor)) throw notFound("Repository");
  await requirePermission(actor, "repo.propose_files", repoResource(repo), { what: "Repository" });
  requireProposals(repo);
  return target;
}

/** Only users open pull requests, and a CI job acts for a repository. */
const userOf = (actor: Actor): string | undefined =>
  actor.kind === "person" || actor.kind === "token" ? (actorId(actor) ?? undefined) : undefined;

const nameOf = (ownerId: string, repoId: string) => ({ ownerId, type: STORE_TYPE, nameCanonical: repoId });

function requireProposals({ platformId, hasDiscussions, isReadOnly }: Repo): void {
  if (platformId) throw conflict("This repository is hosted on another platform. Use its URL there.");
  requireChangeable({ isReadOnly });
  if (!hasDiscussions) throw conflict("Discussions and pull requests are disabled for this repository.");
}
