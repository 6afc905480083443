import { type Actor, actorId } from "../../access/actor.ts";
import { findDelegate } from "../../access/delegation.ts";
import { may, partyOf, requirePermission } from "../../access/may.ts";
import { consumeBytes, consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { type Db, inTransaction } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { findRepo } from "../repos/find-repo.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import type { DiscussionRow } from "./discussion.ts";
import { type DiscussionName, lockDiscussion } from "./find-discussion.ts";

export type ToChange = {
  tx: Db;
  actor: Actor;
  actorId: string | null;
  repo: Repo;
  discussion: DiscussionRow;
};

/** `change` checks the permission and records the event, and may run several times. */
export async function changeDiscussion<T>(actor: Actor, name: DiscussionName, change: (to: ToChange) => Promise<T>): Promise<T> {
  return inTransaction(async (tx) => {
    const repo = await findRepo(actor, name.repo, "repo.read", tx);
    const discussion = await lockDiscussion(tx, repo, name.num);
    return change({ tx, actor, actorId: actorId(actor), repo, discussion });
  });
}

/** The subject of an audit entry. Null if the author's security log may not show the repository's name (S136). */
export async function subjectOf({ tx, repo }: ToChange, authorId: string | null): Promise<string | null> {
  if (authorId === null) return null;
  const author = await findDelegate({ createdById: authorId, delegationId: null, ownerKind: "user", ownerId: authorId }, tx);
  return author && (await may(author, "repo.read", repoResource(repo), tx)) ? authorId : null;
}

const what = "Discussion";

export async function requireWriting({ tx, actor, repo, discussion }: ToChange): Promise<void> {
  await requirePermission(actor, "discussion.write", repoResource(repo), { what, tx });
  await requireUnlocked({ tx, actor, repo, discussion });
}

export async function requireUpdating({ tx, actor, repo, discussion }: ToChange, authorId: string | null): Promise<void> {
  await requirePermission(actor, "discussion.update", { repo: repoResource(repo), authorId }, { what, tx });
  await requireUnlocked({ tx, actor, repo, discussion });
}

export async function requireModerating({ tx, actor, repo }: Pick<ToChange, "tx" | "actor" | "repo">): Promise<void> {
  await requirePermission(actor, "discussion.moderate", repoResource(repo), { what, tx });
}

export async function requireUnlocked({ tx, actor, repo, discussion }: Omit<ToChange, "actorId">): Promise<void> {
  if (!discussion.isLocked || (await may(actor, "discussion.moderate", repoResource(repo), tx))) return;
  throw new ServiceError(
    "forbidden",
    `This ${discussion.isPullRequest ? "pull request" : "discussion"} is locked. The repository's maintainers can unlock it.`,
  );
}

const HOUR = 60 * 60;
const CONTRIBUTIONS = {
  open: { limit: 300, windowSeconds: HOUR },
  comment: { limit: 1_000, windowSeconds: HOUR },
  react: { limit: 2_000, windowSeconds: HOUR },
} as const;

const TEXT_BYTES = { limit: 16 * 1024 * 1024, windowSeconds: 24 * HOUR };

/** No quota counts the events that contributions create. */
const CONTRIBUTIONS_OF_DAY = { limit: 5_000, windowSeconds: 24 * HOUR };

export async function countContribution(actor: Actor, kind: keyof typeof CONTRIBUTIONS, text = ""): Promise<void> {
  const party = partyOf(actor);
  if (!party) return;
  await consumeThrottle(throttleKey(`discussion-${kind}`, party), CONTRIBUTIONS[kind]);
  if (kind !== "react") await consumeThrottle(throttleKey("discussion-day", party), CONTRIBUTIONS_OF_DAY);
  await consumeBytes(throttleKey("discussion-text", party), text, TEXT_BYTES);
}
