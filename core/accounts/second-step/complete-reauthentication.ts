import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import type { AuthenticationMethod } from "../sessions/authentication-method.ts";
import type { SignInOutcome } from "../sessions/complete-sign-in.ts";
import { hasSecondStep } from "./has-second-step.ts";
import { openSecondStep } from "./open-second-step.ts";

/**
 * Continues after a signed-in user has repeated the first step (S113): the password, or a provider to which their account is
 * linked. If a second step is set up it is required as at sign-in; otherwise the session counts as recent again. Doors pass the
 * result to `enter`, like that of `completeSignIn`.
 */
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

/**
 * Continues the session under a new token, which the door sets as the cookie; the old token becomes invalid (ASVS 7.2.4, S34).
 * @param session the token that the browser sent, if it must be that session's
 * @throws ServiceError `unauthorized` if the session has ended
 */
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
