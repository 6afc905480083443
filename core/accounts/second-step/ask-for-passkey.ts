import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { countChallenge } from "./count-second-step-attempt.ts";
import { findPendingSecondStep, signInRanOut } from "./find-pending-second-step.ts";
import { type ChallengeTerms, issueChallenge } from "./passkey-challenge.ts";
import { relyingParty } from "./relying-party.ts";

const TIMEOUT_MILLISECONDS = 5 * 60 * 1000;

/** For signing in with a passkey alone: no user is named, so the device offers what it has, and verifies its user. */
export async function askForPasskeyToSignIn(from: RequestOrigin): Promise<PublicKeyCredentialRequestOptionsJSON> {
  await countChallenge(from);
  return ask({ for: "sign-in", userId: null, boundTo: null }, "required");
}

/**
 * For the second step. The password was correct, so the account's passkeys may be named, and a security key without user
 * verification is enough.
 * @throws ServiceError `gone` if the sign-in has expired
 */
export async function askForPasskeyAsSecondStep(
  token: string | undefined,
  from: RequestOrigin,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  await countChallenge(from);
  const pending = await findPendingSecondStep(token);
  if (!pending) throw signInRanOut();
  return ask({ for: "second-step", userId: pending.userId, boundTo: pending.id }, "preferred");
}

/** For reauthentication (S113) with a passkey alone, so the device must verify its user. */
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
