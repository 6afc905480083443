import { type Actor, actorId } from "../../access/actor.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { accessAnswerLetter } from "./mails/access-answer-letter.ts";

/** Of what one person decides about another: whoever has a repository of their own must not fill the mailbox of others from here. */
const LETTERS: ThrottleLimit = { limit: 20, windowSeconds: 60 * 60 };

/** Tells somebody what was decided about them. @throws ServiceError `rate_limited` */
export async function mailAnswer(
  tx: Db,
  actor: Actor,
  user: { id: string; username: string; email: string },
  answered: Omit<Parameters<typeof accessAnswerLetter>[0], "greeted">,
): Promise<void> {
  const by = actorId(actor);
  if (by) await consumeThrottle(throttleKey("access-letter", `${by} ${user.id}`), LETTERS);
  await queueMail(tx, { to: user.email, ...accessAnswerLetter({ greeted: user.username, ...answered }) });
}
