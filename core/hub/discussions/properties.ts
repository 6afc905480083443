import { type Actor, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import { changeDiscussion, countContribution, requireModerating, requireUpdating, requireWriting } from "./change-discussion.ts";
import { insertComment } from "./comments.ts";
import {
  type DiscussionRow,
  type DiscussionStatus,
  parseDescription,
  parseTitle,
  pullRequestRef,
  type TimelineEvent,
} from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { readTimelineEvent } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

export async function changeStatus(
  actor: Actor,
  name: DiscussionName,
  input: { status: unknown; comment?: unknown },
): Promise<TimelineEvent> {
  const { status } = input;
  if (status !== "open" && status !== "closed") throw invalidRequest("Choose open or closed.", "status");
  const comment = parseDescription(input.comment, "comment");
  await countContribution(actor, "comment", comment);
  // A missing ref is reported last, because every other reason takes precedence.
  const missing = status === "open" ? await missingRefReason(actor, name) : undefined;
  return changeDiscussion(actor, name, async (to) => {
    const { tx, discussion } = to;
    await requireUpdating(to, discussion.authorId);
    if (comment) await requireWriting(to);
    if (discussion.status === "merged") throw conflict("A merged pull request cannot be reopened.");
    if (discussion.status === status)
      throw conflict(`The ${discussion.isPullRequest ? "pull request" : "discussion"} is already ${status}.`);
    if (missing) throw conflict(missing);
    if (comment) await insertComment(to, comment);
    const { event } = await setStatus(tx, to, status);
    return readTimelineEvent(tx, event, actor);
  });
}

async function missingRefReason(actor: Actor, name: DiscussionName): Promise<string | undefined> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const { isPullRequest, num, baseRef } = discussion;
  if (!isPullRequest) return undefined;
  const path = await openRepository(repo);
  const baseSha = baseRef && (await resolveRef(path, baseRef));
  const isEmpty = baseRef === `refs/heads/${repo.defaultBranch}`;
  if (!baseSha && !isEmpty) return "The base branch no longer exists. Open a new pull request.";
  if (!(await resolveRef(path, pullRequestRef(num))))
    return `The pull request has no commits. Push to ${pullRequestRef(num)} first.`;
  return undefined;
}

export type MergedCommits = { headSha: string; baseSha: string | null };

/** Call this with the discussion's row locked. */
export async function setStatus(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
  status: DiscussionStatus,
  merged?: MergedCommits,
) {
  const changed = await tx.discussion.update({ where: { id: discussion.id }, data: { status, updatedAt: new Date() } });
  const [shown] = await insertEvents(tx, discussion.id, [
    { type: "status-change", authorId: actorId, data: { status, ...merged } },
  ]);
  await recordDiscussionEvent(tx, { repo, discussion: changed, actorId }, { scope: "discussion", action: "update" });
  return { row: changed, event: shown as NonNullable<typeof shown> };
}

export async function changeTitle(actor: Actor, name: DiscussionName, input: { title: unknown }): Promise<TimelineEvent> {
  const title = parseTitle(input.title);
  await countContribution(actor, "comment");
  return changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireUpdating(to, before.authorId);
    if (before.title === title) throw conflict("This is already the title.", "title");
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { title, updatedAt: new Date() } });
    const data = { from: before.title, to: title };
    const [shown] = await insertEvents(tx, before.id, [{ type: "title-change", authorId: actorId, data }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
    return readTimelineEvent(tx, shown as NonNullable<typeof shown>, actor);
  });
}

export async function setPinned(actor: Actor, name: DiscussionName, isPinned: boolean): Promise<void> {
  await countContribution(actor, "comment");
  await changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireModerating(to);
    if (before.isPinned === isPinned) return;
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { isPinned } });
    await insertEvents(tx, before.id, [{ type: "pinning-change", authorId: actorId, data: { pinned: isPinned } }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
  });
}

export async function setLocked(actor: Actor, name: DiscussionName, isLocked: boolean, from: RequestOrigin): Promise<void> {
  await countContribution(actor, "comment");
  await changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireModerating(to);
    if (before.isLocked === isLocked) return;
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { isLocked } });
    await insertEvents(tx, before.id, [{ type: "locking-change", authorId: actorId, data: { locked: isLocked } }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
    await recordAuditEvent(tx, {
      type: isLocked ? "discussion.lock" : "discussion.unlock",
      actorId,
      clientId: clientIdOf(actor),
      owner: repo.owner,
      data: { repo: repo.fullName, type: repo.type, num: before.num },
      from,
    });
  });
}
