import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { hasSecondStep } from "../second-step/has-second-step.ts";
import { openSecondStep, type PendingSecondStep } from "../second-step/open-second-step.ts";
import type { AuthenticationMethod } from "./authentication-method.ts";
import { endSiteSessionByToken } from "./end-site-session.ts";
import { renewSiteSession } from "./renew-site-session.ts";
import { type StartedSiteSession, startSiteSession } from "./start-site-session.ts";

export type FirstStep = {
  /** What the person has shown: `["pwd"]` for a password, nothing of our own where another provider vouches for them. */
  methods: readonly AuthenticationMethod[];
  /** Where: for the audit log. */
  provedBy: "password" | "passkey" | "provider";
  /** The provider's id, with `provedBy: "provider"`. */
  providerId?: string;
  /** When it was shown; now, unless the word of a provider is older or says less (S113). */
  provedAt?: Date;
  /** The session token that the browser brought along; it is worth nothing afterwards (S34). */
  replaces?: string | undefined;
};

/** A person is in, under a session; or their first step was right, and the second has yet to come. */
export type SignInOutcome = ({ step: "done"; userId: string } & StartedSiteSession) | PendingSecondStep;

/**
 * What follows a right first step, whichever it was: with a password here, or at another provider. Whoever has set up a second step
 * gets no session yet but a sign-in between its steps, a token that the door keeps in a cookie of its own and that
 * `finishSecondStep` takes; everybody else gets the session. A provider's word is a first step like the password: it says who
 * somebody is there, not that they hold what was set up here.
 *
 * The user's row is locked first, so that a password reset or a disabling that runs beside it is not missed. Doors hand the
 * outcome to `enter` (app/_server/enter.ts), which sets the cookies and goes on.
 *
 *     const outcome = await db().$transaction(async (tx) => {
 *       … // the first step, with whatever it writes
 *       return completeSignIn(tx, userId, { methods: [], provedBy: "provider", providerId, replaces: await sessionToken() }, from);
 *     });
 *     return enter(outcome, next);
 *
 * @throws ServiceError `forbidden` (disabled)
 */
export async function completeSignIn(tx: Db, userId: string, first: FirstStep, from: RequestOrigin): Promise<SignInOutcome> {
  await lockForSignIn(tx, userId);
  if (await hasSecondStep(userId, tx)) return openSecondStep(tx, userId, { methods: first.methods, sessionId: null });
  return startSignedIn(tx, userId, first, from);
}

/** A reset of the password or a disabling that runs beside a sign-in waits for it, or it for them. @throws ServiceError `forbidden` */
export async function lockForSignIn(tx: Db, userId: string): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw accountIsDisabled();
}

/** Signs in somebody who has shown all that is asked of them. The caller has locked the user. */
export async function startSignedIn(
  tx: Db,
  userId: string,
  { methods, provedBy, providerId, provedAt, replaces }: FirstStep,
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  const data = { with: spoken(provedBy, methods), methods: [...methods], ...(providerId && { providerId }) };
  await recordAuditEvent(tx, { type: "user.sign_in", actorId: userId, subjectId: userId, data, from });
  const renewed = replaces && (await renewSiteSession(userId, replaces, from, tx, methods, provedAt));
  if (renewed) return { step: "done", userId, ...renewed };
  if (replaces) await endSiteSessionByToken(replaces, tx);
  return { step: "done", userId, ...(await startSiteSession(userId, from, tx, methods, provedAt)) };
}

function spoken(provedBy: FirstStep["provedBy"], methods: readonly AuthenticationMethod[]): string {
  const first = { password: "a password", passkey: "a passkey", provider: "a provider" }[provedBy];
  if (provedBy === "passkey") return first;
  if (methods.includes("otp")) return `${first} and a code`;
  return methods.includes("pop") ? `${first} and a passkey` : first;
}

export function accountIsDisabled(): ServiceError {
  return new ServiceError("forbidden", "This account is disabled. Write to the operator of this service.");
}
