import type { Db } from "../../../db.ts";
import { recordEvent } from "../../../events/record-event.ts";
import { followRefChanges } from "../../discussions/follow-ref-changes.ts";
import { readCard } from "../../repos/read-card.ts";
import { lockRepo } from "../../repos/read-repos.ts";
import { type Repo, repoPayload } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { RefChange } from "./ref-change.ts";
import { resolveRef } from "./resolve-ref.ts";

export type Recorded = { eventId: string; repo: Repo; changed: readonly RefChange[] };

/**
 * Records that refs were changed: what the repository's row says of its content, and one event, however many refs there are. The note
 * in `ref_update` goes with it. Nothing is recorded of a repository that was deleted meanwhile.
 */
export async function recordRefChanges(
  tx: Db,
  note: { id: string; repoId: string; actorId: string | null },
  changed: readonly RefChange[],
): Promise<Recorded | undefined> {
  await tx.refUpdate.deleteMany({ where: { id: note.id } });
  if (changed.length === 0) return undefined;
  const before = await lockRepo(tx, note.repoId);
  if (!before) return undefined;
  const repo = { ...before, ...(await readHead(before)), updatedAt: new Date() };
  await tx.repo.update({
    where: { id: repo.id },
    data: {
      headSha: repo.headSha,
      updatedAt: repo.updatedAt,
      tags: repo.tags,
      card: (repo.card ?? undefined) as object | undefined,
      sdk: repo.sdk,
    },
  });
  const eventId = await recordEvent(tx, {
    payload: {
      event: { scope: "repo.content", action: "update" },
      repo: repoPayload(repo),
      updatedRefs: changed.map(({ ref, oldSha, newSha }) => ({ ref, oldSha, newSha })),
    },
    actorId: note.actorId,
  });
  await followRefChanges(tx, repo, changed, note.actorId);
  return { eventId, repo, changed };
}

/** What the default branch says now; read under the row's lock, so that of two pushes the later one has the last word. */
async function readHead(repo: Repo): Promise<Pick<Repo, "headSha" | "tags" | "card" | "sdk">> {
  const path = await openRepository(repo);
  const headSha = await resolveRef(path, `refs/heads/${repo.defaultBranch}`);
  if (headSha === repo.headSha) return { headSha, tags: repo.tags, card: repo.card, sdk: repo.sdk };
  return { headSha, ...(await readCard(path, headSha, repo)) };
}
