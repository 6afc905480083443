import type { Db } from "../../db.ts";
import { recordEvents } from "../../events/record-event.ts";
import { type Repo, repoPayload } from "./repo.ts";

/**
 * Takes repositories out, with all that hangs on their rows, and notes that their data is to be removed from the disk. It asks
 * nobody's permission. Whoever watches them is still told: the event does not need the row.
 */
export async function removeRepos(tx: Db, repos: readonly Repo[], actorId: string | null): Promise<void> {
  await recordEvents(
    tx,
    repos.map((repo) => ({ payload: { event: { scope: "repo", action: "delete" }, repo: repoPayload(repo) }, actorId })),
  );
  const onDisk = repos.filter(({ platformId }) => platformId === null);
  await tx.repoRemoval.createMany({ data: onDisk.map(({ id }) => ({ repoId: id })), skipDuplicates: true });
  await tx.repo.deleteMany({ where: { id: { in: repos.map(({ id }) => id) } } });
}
