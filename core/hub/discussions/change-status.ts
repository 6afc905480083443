import type { Actor } from "../../access/actor.ts";
import { ServiceError } from "../../errors.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import { insertComment } from "./add-comment.ts";
import { changeDiscussion, requireUpdating, requireWriting } from "./change-discussion.ts";
import { countContribution } from "./count-contribution.ts";
import { pullRequestRef, type TimelineEvent } from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";
import { parseDescription } from "./parse-text.ts";
import { readTimelineEvent } from "./read-timeline.ts";
import { setStatus } from "./set-status.ts";

/**
 * Closes or reopens a discussion or a pull request, or marks a draft as ready, with an optional comment.
 * @throws ServiceError `invalid_request`, `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`, `conflict` (already in that
 * status, merged, or its branch is gone), `rate_limited`
 */
export async function changeStatus(
  actor: Actor,
  name: DiscussionName,
  input: { status: unknown; comment?: unknown },
): Promise<TimelineEvent> {
  const { status } = input;
  if (status !== "open" && status !== "closed") {
    throw new ServiceError("invalid_request", "Choose open or closed.", { field: "status" });
  }
  const comment = parseDescription(input.comment, "comment");
  await countContribution(actor, "comment");
  // Thrown below, because a merged or open one is refused with another sentence.
  const lacking = status === "open" ? await lackingRef(actor, name) : undefined;
  return changeDiscussion(actor, name, async (to) => {
    const { tx, discussion } = to;
    await requireUpdating(to, discussion.authorId);
    if (comment) await requireWriting(to);
    if (discussion.status === "merged") throw new ServiceError("conflict", "It is merged, and stays so.");
    if (discussion.status === status) throw new ServiceError("conflict", `It is ${status} already.`);
    if (lacking) throw new ServiceError("conflict", lacking);
    if (comment) await insertComment(to, comment);
    const { event } = await setStatus(tx, to, status);
    return readTimelineEvent(tx, event, actor);
  });
}

/** Why a pull request cannot be reopened. Asks git before the row is locked. */
async function lackingRef(actor: Actor, name: DiscussionName): Promise<string | undefined> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const { isPullRequest, num, baseRef } = discussion;
  if (!isPullRequest) return undefined;
  const path = await openRepository(repo);
  const baseSha = baseRef && (await resolveRef(path, baseRef));
  // A pull request may propose the first commit of an empty repository.
  const isEmpty = baseRef === `refs/heads/${repo.defaultBranch}`;
  if (!baseSha && !isEmpty) return "The branch that it is for is gone. Open another one.";
  if (!(await resolveRef(path, pullRequestRef(num)))) return `It has no commits: push to ${pullRequestRef(num)} first.`;
  return undefined;
}
