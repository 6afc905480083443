import type { Db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import type { AuthenticationMethod } from "../sessions/authentication-method.ts";

/** Somebody between two steps: the token for their browser's cookie, and when it stops working. */
export type PendingSecondStep = { step: "second-step"; userId: string; token: string; expiresAt: Date };

/**
 * Notes that the first step was right. It is worth nothing but a try at the second one, within ten minutes and once.
 * @param sessionId the session that is to be proved again (S113); null for a sign-in
 */
export async function openSecondStep(
  tx: Db,
  userId: string,
  { methods, sessionId }: { methods: readonly AuthenticationMethod[]; sessionId: string | null },
): Promise<PendingSecondStep> {
  // A subject of its own: signing in on a second device does not end the sign-in on the first, nor can somebody who has learnt
  // the password keep its owner out by beginning again and again.
  const data = { methods: [...methods], sessionId };
  const token = await issueOneTimeToken(tx, { purpose: "second-step", userId, subject: newId(), data });
  return { step: "second-step", userId, token, expiresAt: new Date(Date.now() + oneTimeTokenSeconds["second-step"] * 1000) };
}
