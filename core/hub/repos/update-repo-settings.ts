import { gates } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { invalidRequest, isServiceError } from "../../errors.ts";
import { recordEvent } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { isNewRefName, isRefName } from "../git/refs/ref-name.ts";
import { openRepository } from "../git/repository.ts";
import { runGit, UNDER_LOCK } from "../git/run-git.ts";
import { changeRepo } from "./change-repo.ts";
import { countEvent } from "./count-event.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { cardsBusy, knownCard, noCard, readCardAhead } from "./read-card.ts";
import { type Repo, repoPayload } from "./repo.ts";
import { changedSettings, type RepoSettings, settingsToWire } from "./repo-settings.ts";

/** All changes are one event. `settings` has unchecked values, and its `gated` may be `false`. */
export async function updateRepoSettings(
  actor: Actor,
  wanted: RepoName,
  settings: Partial<Record<keyof RepoSettings, unknown>>,
  from: RequestOrigin,
): Promise<Repo> {
  const found = await findRepo(actor, wanted, "repo.manage");
  await countSettings(actor, found, changedSettings(found, settings));
  if (typeof settings.defaultBranch === "string") await readAhead(found, settings.defaultBranch);
  return changeRepo(actor, wanted, async (tx, before) => {
    const changed = changedSettings(before, settings);
    if (Object.keys(changed).length === 0) return before;
    const head = changed.defaultBranch === undefined ? {} : await readBranch(before, changed.defaultBranch);
    const repo: Repo = { ...before, ...head, ...changed };
    const { headSha, tags, card } = repo;
    await tx.repo.update({
      where: { id: repo.id },
      data: {
        ...changed,
        // `undefined` would leave the former card.
        ...("headSha" in head && {
          headSha,
          tags,
          card: (card as Prisma.InputJsonObject | null) ?? Prisma.DbNull,
          sdk: repo.sdk,
        }),
      },
    });
    await record(tx, actor, { before, repo }, settingsToWire(changed), from);
    // The file HEAD is written last, because a rollback does not restore it.
    if (changed.defaultBranch !== undefined) await pointHead(repo);
    return repo;
  });
}

async function record(
  tx: Db,
  actor: Actor,
  { before, repo }: { before: Repo; repo: Repo },
  updatedConfig: Record<string, string | boolean | null>,
  from: RequestOrigin,
): Promise<void> {
  await recordAuditEvent(tx, {
    type: "repo.update_settings",
    actor,
    owner: repo.owner,
    data: { repo: repo.fullName, type: repo.type, ...updatedConfig },
    from,
    isRemoval: isRemoval(before, repo),
  });
  await recordEvent(tx, {
    payload: { event: { scope: "repo.config", action: "update" }, repo: repoPayload(repo), updatedConfig },
    actorId: actorId(actor),
  });
}

function isRemoval(before: Repo, now: Repo): boolean {
  const steps = [Number(now.isPrivate) - Number(before.isPrivate), gates.indexOf(now.gated) - gates.indexOf(before.gated)];
  return steps.some((step) => step > 0) && steps.every((step) => step >= 0);
}

/** A removal counts, but is never refused. It cannot be repeated without end, because undoing it can be refused (S144). */
async function countSettings(actor: Actor, before: Repo, changed: Partial<RepoSettings>): Promise<void> {
  if (Object.keys(changed).length === 0) return;
  await countEvent(before, actor, { updatedConfig: settingsToWire(changed) }).catch((error: unknown) => {
    if (!isServiceError(error) || !isRemoval(before, { ...before, ...changed })) throw error;
  });
}

/** Read before the transaction, because no parser may run while the row is locked. */
async function readAhead(repo: Repo, branch: string): Promise<void> {
  if (repo.platformId || !isRefName(branch)) return;
  const path = await openRepository(repo);
  const sha = await resolveRef(path, `refs/heads/${branch}`);
  if (sha && !(await readCardAhead(path, [sha]))) throw cardsBusy();
}

async function readBranch(repo: Repo, name: string): Promise<Pick<Repo, "headSha" | "tags" | "card" | "sdk">> {
  const path = await openRepository(repo);
  const headSha = await resolveRef(path, `refs/heads/${name}`, UNDER_LOCK);
  const isEmpty = (await runGit(path, ["for-each-ref", "--count=1", "refs/heads/"], UNDER_LOCK)).length === 0;
  if (!headSha && !isEmpty) throw invalidRequest("This branch does not exist.", "defaultBranch");
  if (!headSha && !isNewRefName(name)) throw invalidRequest("This cannot be the name of a branch.", "defaultBranch");
  const card = headSha ? knownCard(path, headSha, repo) : noCard(repo);
  if (!card) throw cardsBusy();
  return { headSha, ...card };
}

async function pointHead(repo: Repo): Promise<void> {
  await runGit(await openRepository(repo), ["symbolic-ref", "HEAD", `refs/heads/${repo.defaultBranch}`], UNDER_LOCK);
}
