import type { Person } from "#core/access/actor.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { conflict, ServiceError } from "#core/errors.ts";
import { checkOwnPassword } from "../passwords/check-own-password.ts";
import type { SignInOutcome } from "../sessions/complete-sign-in.ts";
import type { AuthenticationMethod } from "../sessions/start-site-session.ts";
import { hasSecondStep } from "./find-second-step.ts";
import { openSecondStep } from "./pending-second-step.ts";

export async function reauthenticate(actor: Person, password: unknown, from: RequestOrigin): Promise<SignInOutcome> {
  await checkOwnPassword(actor.userId, password, from);
  return db().$transaction((tx) => completeReauthentication(tx, actor, { methods: ["pwd"] }, from));
}

/** Without a password, the second step is enough, because a thief of the session does not have it (docs/decisions/041). */
export async function reauthenticateWithoutPassword(actor: Person, from: RequestOrigin): Promise<SignInOutcome> {
  return db().$transaction(async (tx) => {
    const { passwordHash } = await tx.user.findUniqueOrThrow({ where: { id: actor.userId }, select: { passwordHash: true } });
    if (passwordHash !== null || !(await hasSecondStep(actor.userId, tx))) {
      throw conflict("Confirm your identity with your password, or at the provider that you sign in with.");
    }
    return completeReauthentication(tx, actor, { methods: [] }, from);
  });
}

/** Doors must pass the result to `continueSignIn` (S113). */
export async function completeReauthentication(
  tx: Db,
  actor: Person,
  { methods }: { methods: readonly AuthenticationMethod[] },
  from: RequestOrigin,
): Promise<SignInOutcome> {
  if (await hasSecondStep(actor.userId, tx)) {
    return openSecondStep(tx, actor.userId, { methods, sessionId: actor.sessionId });
  }
  return renewAuthentication(tx, { userId: actor.userId, sessionId: actor.sessionId }, methods, from);
}

/** ASVS 7.2.4, S34. `session` is the token that the browser sent. If it is given, it must belong to the renewed session. */
export async function renewAuthentication(
  tx: Db,
  { userId, sessionId, session: presented }: { userId: string; sessionId: string; session?: string | undefined },
  methods: readonly AuthenticationMethod[],
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  const now = new Date();
  const token = newToken();
  const [session] = await tx.siteSession.updateManyAndReturn({
    where: {
      id: sessionId,
      userId,
      endedAt: null,
      expiresAt: { gt: now },
      user: { disabledAt: null },
      ...(presented !== undefined && { tokenHash: hashToken(presented) }),
    },
    data: { tokenHash: hashToken(token), authenticatedAt: now, methods: [...methods] },
    select: { expiresAt: true },
  });
  if (!session) throw new ServiceError("unauthorized", "Your session has ended. Sign in again.");
  const data = { methods: [...methods] };
  await recordAuditEvent(tx, { type: "user.reauthenticate", actorId: userId, subjectId: userId, data, from });
  return { step: "done", userId, token, expiresAt: session.expiresAt };
}
