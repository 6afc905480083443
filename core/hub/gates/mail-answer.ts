import { type Actor, actorId } from "../../access/actor.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { accessAnswerLetter } from "./mails/access-answer-letter.ts";

/** Mails about one person's decisions on another: nobody must fill others' mailboxes by means of their own repository. */
const LETTERS: ThrottleLimit = { limit: 20, windowSeconds: 60 * 60 };

/**
 * Counts the mail of a decision before the decision is made, and takes that back if the decision fails.
 * @throws ServiceError `rate_limited`
 */
export async function countAnswer<T>(actor: Actor, user: { id: string }, decide: () => Promise<T>): Promise<T> {
  const by = actorId(actor);
  if (!by) return decide();
  const letter = await consumeThrottle(throttleKey("access-letter", `${by} ${user.id}`), LETTERS);
  try {
    return await decide();
  } catch (error) {
    await letter.giveBack();
    throw error;
  }
}

/** Tells a user what was decided about them. */
export async function mailAnswer(
  tx: Db,
  user: { username: string; email: string },
  answered: Omit<Parameters<typeof accessAnswerLetter>[0], "greeted">,
): Promise<void> {
  await queueMail(tx, { to: user.email, ...accessAnswerLetter({ greeted: user.username, ...answered }) });
}
