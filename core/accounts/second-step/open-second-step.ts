import type { Db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import type { AuthenticationMethod } from "../sessions/authentication-method.ts";

/** A user between the two steps: the token for their browser's cookie, and when it expires. */
export type PendingSecondStep = { step: "second-step"; userId: string; token: string; expiresAt: Date };

/**
 * Records that the first step succeeded. This only permits an attempt at the second one, within ten minutes and once.
 * @param sessionId the session to reauthenticate (S113); null for a sign-in
 */
export async function openSecondStep(
  tx: Db,
  userId: string,
  { methods, sessionId }: { methods: readonly AuthenticationMethod[]; sessionId: string | null },
): Promise<PendingSecondStep> {
  // A unique subject: a sign-in on a second device does not end the one on the first, and an attacker who knows the password
  // cannot keep the owner out by beginning again and again.
  const data = { methods: [...methods], sessionId };
  const token = await issueOneTimeToken(tx, { purpose: "second-step", userId, subject: newId(), data });
  return { step: "second-step", userId, token, expiresAt: new Date(Date.now() + oneTimeTokenSeconds["second-step"] * 1000) };
}
