import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import type { Person } from "#core/access/actor.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isEqualInConstantTime } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { lockForSignIn, type SignInOutcome, startSignedIn } from "../sessions/complete-sign-in.ts";
import { renewAuthentication } from "./complete-reauthentication.ts";
import { countChallenge } from "./count-second-step-attempt.ts";
import { findPendingSecondStep, signInExpired } from "./pending-second-step.ts";
import {
  type ChallengeTerms,
  issueChallenge,
  parseAuthentication,
  passkeyRefused,
  readChallenge,
  relyingParty,
  verifyPasskey,
} from "./verify-passkey.ts";

const TIMEOUT_MILLISECONDS = 5 * 60 * 1000;

export async function askForPasskeyToSignIn(from: RequestOrigin): Promise<PublicKeyCredentialRequestOptionsJSON> {
  await countChallenge(from);
  return ask({ for: "sign-in", userId: null, boundTo: null }, "required");
}

/** The first step succeeded, so the account's passkeys may be named. */
export async function askForPasskeyAsSecondStep(
  token: string | undefined,
  from: RequestOrigin,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  await countChallenge(from);
  const pending = await findPendingSecondStep(token);
  if (!pending) throw signInExpired();
  return ask({ for: "second-step", userId: pending.userId, boundTo: pending.id }, "preferred");
}

/** See S113. The device must verify its user. */
export async function askForPasskeyToReauthenticate(
  actor: Person,
  from: RequestOrigin,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  await countChallenge(from);
  return ask({ for: "reauthenticate", userId: actor.userId, boundTo: actor.sessionId }, "required");
}

async function ask(terms: ChallengeTerms, userVerification: "required" | "preferred") {
  const passkeys = terms.userId === null ? [] : await db().passkey.findMany({ where: { userId: terms.userId } });
  return generateAuthenticationOptions({
    rpID: relyingParty().id,
    challenge: await issueChallenge(terms),
    timeout: TIMEOUT_MILLISECONDS,
    userVerification,
    allowCredentials: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
  });
}

type SignInWithPasskeyInput = {
  response: unknown;
  /** From this browser's cookie, so that no response made elsewhere signs the user in to a stranger's account (login CSRF). */
  challenge: string | undefined;
  replaces: string | undefined;
};

/** The passkey counts as both steps (NIST SP 800-63B §3.1.6). */
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

/** See S113. `session` is the token that the browser sent. */
export async function reauthenticateWithPasskey(
  { userId, sessionId }: Person,
  { response, session }: { response: unknown; session: string | undefined },
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  await countChallenge(from);
  await verifyPasskey(response, { for: "reauthenticate", userId, boundTo: sessionId }, { isVerificationRequired: true });
  return db().$transaction((tx) => renewAuthentication(tx, { userId, sessionId, session: session ?? "" }, ["pop", "mfa"], from));
}
