import type { Actor } from "../../access/actor.ts";
import { ServiceError } from "../../errors.ts";
import { changeDiscussion, requireUpdating } from "./change-discussion.ts";
import { countContribution } from "./count-contribution.ts";
import type { TimelineEvent } from "./discussion.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { parseTitle } from "./parse-text.ts";
import { readTimelineEvent } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** @throws ServiceError `invalid_request`, `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`, `conflict` (same title), `rate_limited` */
export async function changeTitle(actor: Actor, name: DiscussionName, input: { title: unknown }): Promise<TimelineEvent> {
  const title = parseTitle(input.title);
  await countContribution(actor, "comment");
  return changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireUpdating(to, before.authorId);
    if (before.title === title) throw new ServiceError("conflict", "It is called so already.", { field: "title" });
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { title, updatedAt: new Date() } });
    const data = { from: before.title, to: title };
    const [shown] = await insertEvents(tx, before.id, [{ type: "title-change", authorId: actorId, data }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
    return readTimelineEvent(tx, shown as NonNullable<typeof shown>, actor);
  });
}
