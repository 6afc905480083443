import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner, lockOwner, type Owner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { recordEvent } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { requireRoom } from "../../storage/hold-storage.ts";
import { REPOSITORY_BYTES } from "../../storage/limits.ts";
import { lfsSizeOf } from "../lfs/objects/find-lfs-object.ts";
import { changeRepo } from "./change-repo.ts";
import { countEvent } from "./count-event.ts";
import { nameTaken } from "./create-repo.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { readRepo } from "./read-repos.ts";
import { ownerColumns, parseRepoName, type Repo, repoPayload } from "./repo.ts";

const UNIQUE_VIOLATION = "P2002";

/** The former name leads to the repository until a new one takes it. `to.owner` is a handle. */
export async function moveRepo(
  actor: Actor,
  wanted: RepoName,
  to: { owner: string; name: string },
  from: RequestOrigin,
): Promise<Repo> {
  const name = parseRepoName(to.name);
  const owner = await findOwner(to.owner);
  await countEvent(await findRepo(actor, wanted, "repo.manage"), actor, { movedTo: to });
  try {
    return await changeRepo(
      actor,
      wanted,
      async (tx, before) => {
        if (!owner) throw notFound("Owner");
        if (owner.id !== before.owner.id) await requireRoomFor(actor, before, owner, tx);
        else if (name.spelled === before.name) return before;
        await tx.repo.update({
          where: { id: before.id },
          data: { ownerId: owner.id, ownerKind: owner.kind, name: name.spelled, nameCanonical: name.canonical },
        });
        // The new owner does not trust the former owner's publishers (S100).
        const ended =
          owner.id === before.owner.id ? 0 : (await tx.trustedPublisher.deleteMany({ where: { repoId: before.id } })).count;
        await rememberName(tx, before, { ownerId: owner.id, nameCanonical: name.canonical });
        const repo = await readRepo(before.id, tx);
        if (!repo) throw notFound("Owner");
        await record(tx, actor, { before, repo, ended }, from);
        return repo;
      },
      async (tx) => {
        if (owner && !(await lockOwner(tx, owner))) throw notFound("Owner");
      },
    );
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION) {
      throw conflict(nameTaken(wanted.type, owner?.handle ?? "", name.spelled), "name");
    }
    throw error;
  }
}

async function requireRoomFor(actor: Actor, repo: Repo, owner: Owner, tx: Db): Promise<void> {
  await requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner", tx });
  const bytes = repo.platformId ? 0 : REPOSITORY_BYTES + repo.sizeBytes + (await lfsSizeOf(repo.id, tx));
  if (bytes > 0) await requireRoom(owner, bytes, `the repository ${repo.name}`, { tx });
}

const FORMER_NAMES_MAX = 100;

async function rememberName(
  tx: Db,
  { id, type, owner, name }: Repo,
  now: { ownerId: string; nameCanonical: string },
): Promise<void> {
  const was = { ownerId: owner.id, nameCanonical: name.toLowerCase() };
  if (was.ownerId !== now.ownerId || was.nameCanonical !== now.nameCanonical) {
    await tx.repoFormerName.upsert({
      where: { ownerId_type_nameCanonical: { ...was, type } },
      create: { ...was, type, repoId: id },
      update: { repoId: id, createdAt: new Date() },
    });
    await tx.$executeRaw`DELETE FROM repo_former_name WHERE repo_id = ${id} AND created_at < (SELECT created_at FROM repo_former_name
      WHERE repo_id = ${id} ORDER BY created_at DESC OFFSET ${FORMER_NAMES_MAX - 1} LIMIT 1)`;
  }
  await tx.repoFormerName.deleteMany({ where: { ...now, type } });
}

type Moved = {
  before: Repo;
  repo: Repo;
  ended: number;
};

async function record(tx: Db, actor: Actor, { before, repo, ended }: Moved, from: RequestOrigin): Promise<void> {
  const organizations = [before.owner, repo.owner].filter(({ kind }) => kind === "organization").map(({ id }) => id);
  for (const orgId of organizations.length > 0 ? new Set(organizations) : [null]) {
    await recordAuditEvent(tx, {
      type: "repo.move",
      actor,
      orgId,
      data: { from: before.fullName, to: repo.fullName, type: repo.type, ...(ended > 0 && { endedPublishers: ended }) },
      from,
    });
  }
  await recordEvent(tx, {
    payload: {
      event: { scope: "repo", action: "move" },
      repo: repoPayload(before),
      movedTo: { name: repo.fullName, owner: { id: repo.owner.id } },
    },
    actorId: actorId(actor),
  });
}
