import type { Actor } from "../../access/actor.ts";
import { ServiceError } from "../../errors.ts";
import { changeDiscussion, requireWriting } from "./change-discussion.ts";
import { countContribution } from "./count-contribution.ts";
import type { Comment } from "./discussion.ts";
import { findComment } from "./find-comment.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { readComment } from "./read-timeline.ts";

/** The possible reactions to a comment, with their names. */
export const reactions = {
  "👍": "thumbs up",
  "👎": "thumbs down",
  "😄": "laughing",
  "🎉": "hooray",
  "😕": "confused",
  "❤️": "heart",
  "🚀": "rocket",
  "👀": "eyes",
} as const;

const canonical = (text: string): string => text.replaceAll("\u{fe0f}", "");
const bySpelling = new Map(Object.keys(reactions).map((reaction) => [canonical(reaction), reaction]));

/**
 * Adds a reaction to a comment, or removes it. Repeating it changes nothing. It creates no event: no payload has a field for it.
 * @throws ServiceError `invalid_request` for an emoji that is not among `reactions`, `not_found`, `forbidden` (locked), `conflict` (hidden)
 */
export async function reactToComment(
  actor: Actor,
  name: DiscussionName,
  commentId: string,
  input: { reaction: unknown; isOn: boolean },
): Promise<Comment> {
  const reaction = typeof input.reaction === "string" ? bySpelling.get(canonical(input.reaction)) : undefined;
  if (!reaction) {
    const choice = Object.keys(reactions).join(" ");
    throw new ServiceError("invalid_request", `Choose one of ${choice}`, { field: "reaction" });
  }
  await countContribution(actor, "react");
  return changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, discussion } = to;
    await requireWriting(to);
    const comment = await findComment(tx, discussion, commentId);
    if (comment.isHidden) throw new ServiceError("conflict", "This comment is hidden.");
    // The operator's command has no account to react with.
    const row = actorId && { commentId: comment.id, userId: actorId, reaction };
    if (row && input.isOn) await tx.commentReaction.createMany({ data: [row], skipDuplicates: true });
    else if (row) await tx.commentReaction.deleteMany({ where: row });
    return readComment(tx, comment, actor);
  });
}
