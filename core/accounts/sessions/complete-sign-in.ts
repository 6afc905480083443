import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { hasSecondStep } from "../second-step/find-second-step.ts";
import { openSecondStep, type PendingSecondStep } from "../second-step/pending-second-step.ts";
import { endSiteSessionByToken } from "./end-site-session.ts";
import { type AuthenticationMethod, renewSiteSession, type StartedSiteSession, startSiteSession } from "./start-site-session.ts";

type FirstStep = {
  /** Empty if an identity provider authenticated the user. */
  methods: readonly AuthenticationMethod[];
  provedBy: "password" | "passkey" | "provider";
  providerId?: string;
  /** Set for a provider, whose authentication may be older or prove less (S113). */
  provedAt?: Date;
  /** The token of the session that the new one replaces (S34). */
  replaces?: string | undefined;
};

export type SignInOutcome = ({ step: "done"; userId: string } & StartedSiteSession) | PendingSecondStep;

/** Doors must pass the outcome to `continueSignIn` (app/_server/continue-sign-in.ts). */
export async function completeSignIn(tx: Db, userId: string, first: FirstStep, from: RequestOrigin): Promise<SignInOutcome> {
  await lockForSignIn(tx, userId);
  if (await hasSecondStep(userId, tx)) return openSecondStep(tx, userId, { methods: first.methods, sessionId: null });
  return startSignedIn(tx, userId, first, from);
}

/** A sign-in and a concurrent password reset or disabling must wait for each other. */
export async function lockForSignIn(tx: Db, userId: string): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw accountIsDisabled();
}

export async function startSignedIn(
  tx: Db,
  userId: string,
  { methods, provedBy, providerId, provedAt, replaces }: FirstStep,
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  const data = { with: describeMethods(provedBy, methods), methods: [...methods], ...(providerId && { providerId }) };
  await recordAuditEvent(tx, { type: "user.sign_in", actorId: userId, subjectId: userId, data, from });
  const renewed = replaces && (await renewSiteSession(userId, replaces, from, tx, methods, provedAt));
  if (renewed) return { step: "done", userId, ...renewed };
  if (replaces) await endSiteSessionByToken(replaces, tx);
  return { step: "done", userId, ...(await startSiteSession(userId, from, tx, methods, provedAt)) };
}

function describeMethods(provedBy: FirstStep["provedBy"], methods: readonly AuthenticationMethod[]): string {
  const first = { password: "a password", passkey: "a passkey", provider: "a provider" }[provedBy];
  if (provedBy === "passkey") return first;
  if (methods.includes("otp")) return `${first} and a code`;
  return methods.includes("pop") ? `${first} and a passkey` : first;
}

export function accountIsDisabled(): ServiceError {
  return new ServiceError("forbidden", "This account is disabled. Contact the operator of this service.");
}
