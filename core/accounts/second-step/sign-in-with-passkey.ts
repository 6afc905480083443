import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { isEqualInConstantTime } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { lockForSignIn, type SignInOutcome, startSignedIn } from "../sessions/complete-sign-in.ts";
import { renewAuthentication } from "./complete-reauthentication.ts";
import { countChallenge } from "./count-second-step-attempt.ts";
import { readChallenge } from "./passkey-challenge.ts";
import { passkeyRefused } from "./passkey-refused.ts";
import { parseAuthentication } from "./passkey-response.ts";
import { verifyPasskey } from "./verify-passkey.ts";

export type SignInWithPasskeyInput = {
  /** The browser's passkey response, unchanged. */
  response: unknown;
  /** The challenge given to this browser, from its cookie: a response made elsewhere signs nobody in here (login CSRF). */
  challenge: string | undefined;
  replaces: string | undefined;
};

/**
 * Signs in with a passkey alone. The device holds the key and has verified its user, so it is both steps (NIST SP 800-63B
 * §3.1.6). Unknown and deleted passkeys and disabled users get the same response after the same work.
 * @throws ServiceError `unauthorized`, `rate_limited`, `forbidden` (disabled)
 */
export async function signInWithPasskey(
  { response, challenge, replaces }: SignInWithPasskeyInput,
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  await countChallenge(from);
  const answered = readChallenge(parseAuthentication(response).response.clientDataJSON);
  if (!challenge || !isEqualInConstantTime(answered, challenge)) throw passkeyRefused();
  const terms = { for: "sign-in" as const, userId: null, boundTo: null };
  const { userId } = await verifyPasskey(response, terms, { isVerificationRequired: true });
  return db().$transaction(async (tx) => {
    await lockForSignIn(tx, userId);
    return startSignedIn(tx, userId, { methods: ["pop", "mfa"], provedBy: "passkey", replaces }, from);
  });
}

/**
 * Reauthenticates with a passkey alone (S113).
 * @param session the token that the browser sent
 * @throws ServiceError `unauthorized`, `rate_limited`
 */
export async function reauthenticateWithPasskey(
  { userId, sessionId }: Person,
  { response, session }: { response: unknown; session: string | undefined },
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  await countChallenge(from);
  await verifyPasskey(response, { for: "reauthenticate", userId, boundTo: sessionId }, { isVerificationRequired: true });
  return db().$transaction((tx) => renewAuthentication(tx, { userId, sessionId, session: session ?? "" }, ["pop", "mfa"], from));
}
