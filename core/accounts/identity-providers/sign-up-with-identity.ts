import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { parseEmailAddress } from "../email-address.ts";
import { parseHandle } from "../handles/parse-handle.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";
import { consumeAddressThrottle } from "../throttle.ts";
import { insertUser } from "../users/insert-user.ts";
import { parseFullName } from "../users/new-user-fields.ts";
import { insertIdentity, requireLiveProvider } from "./link-identity.ts";

const ADDRESS_LIMIT = { limit: 30, windowSeconds: 60 * 60 };

/**
 * Creates an account for a pending identity whose provider allows sign-up: it has the e-mail address that the provider
 * verified, and no password.
 * @param token from `pendingIdentityCookie`
 * @param replaces the session token that the browser sent
 * @throws ServiceError `invalid_request` or `conflict` on `username`; `conflict` if the address has an account by now; `gone`,
 * `forbidden`, `rate_limited`
 */
export async function signUpWithIdentity(
  token: string,
  input: { username: string; fullName?: string; replaces?: string | undefined },
  from: RequestOrigin,
): Promise<{ outcome: SignInOutcome; next: string }> {
  const handle = parseHandle(input.username, "username");
  const fullName = parseFullName(input.fullName ?? "") || handle.spelled;
  await consumeAddressThrottle("sign-up", from.ip, ADDRESS_LIMIT);
  return db().$transaction(async (tx) => {
    const { data } = await useOneTimeToken(tx, token, "pending-identity");
    const { id, slug, name, orgId, isSignUpAllowed } = await requireLiveProvider(tx, data.providerId);
    if (orgId !== null || !isSignUpAllowed || data.email === null) {
      throw new ServiceError("forbidden", `${name} does not make accounts here. Sign in to yours, or create one.`);
    }
    const email = parseEmailAddress(data.email);
    const userId = await insertUser(tx, { handle, fullName, email, passwordHash: null }, undefined, from);
    await insertIdentity(tx, userId, data);
    await recordAuditEvent(tx, {
      type: "linked_identity.link",
      actorId: userId,
      subjectId: userId,
      data: { provider: name, slug, displayName: data.displayName },
      from,
    });
    const first = { methods: [], provedBy: "provider", providerId: id, replaces: input.replaces } as const;
    return { outcome: await completeSignIn(tx, userId, first, from), next: data.next };
  });
}
