import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { isEqualInConstantTime } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import type { Passkey } from "../../generated/prisma/client.ts";
import { log } from "../../log.ts";
import { type ChallengeTerms, takeChallenge } from "./passkey-challenge.ts";
import { passkeyRefused } from "./passkey-refused.ts";
import { parseAuthentication } from "./passkey-response.ts";
import { relyingParty } from "./relying-party.ts";

export type VerifiedPasskey = { userId: string; passkeyId: string };

/**
 * Checks a passkey's response to a challenge (WebAuthn Level 3 §7.2) and records its use.
 * @param terms what the challenge was created for; with `userId` null the passkey itself says who the user is
 * @param isVerificationRequired whether the device must have verified its user (PIN, finger, face): then it is two steps in one
 * @throws ServiceError `unauthorized`, the same for every reason
 */
export async function verifyPasskey(
  answer: unknown,
  terms: ChallengeTerms,
  { isVerificationRequired }: { isVerificationRequired: boolean },
): Promise<VerifiedPasskey> {
  const response = parseAuthentication(answer);
  const expectedChallenge = await takeChallenge(response.response.clientDataJSON, terms);
  const passkey = await db().passkey.findUnique({ where: { credentialId: response.id } });
  if (!passkey || (terms.userId !== null && passkey.userId !== terms.userId)) throw passkeyRefused();
  requireOwnHandle(response.response.userHandle, passkey, terms);
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge,
    expectedRPID,
    expectedOrigin,
    requireUserVerification: isVerificationRequired,
    credential: {
      id: passkey.credentialId,
      publicKey: Uint8Array.from(passkey.publicKey),
      counter: Number(passkey.counter),
    },
  }).catch((error: unknown) => {
    // A counter that goes back may indicate a cloned authenticator (§6.1.1), so it is refused like a wrong signature, and logged.
    log().warn({ err: error, userId: passkey.userId, passkeyId: passkey.id }, "passkey refused");
    throw passkeyRefused(error);
  });
  if (!verified.verified) throw passkeyRefused();
  await noteUse(passkey, verified.authenticationInfo);
  return { userId: passkey.userId, passkeyId: passkey.id };
}

/** §7.2 step 6: if no user was known before, the user named by the passkey must be its owner. */
function requireOwnHandle(userHandle: string | undefined | null, { userId }: Passkey, terms: ChallengeTerms): void {
  if (!userHandle && terms.userId !== null) return;
  const named = Buffer.from(userHandle ?? "", "base64url").toString();
  if (!isEqualInConstantTime(named, userId)) throw passkeyRefused();
}

type Use = { newCounter: number; credentialBackedUp: boolean };

/** Conditional on the counter that was read: of two responses with one counter, from an authenticator and its clone, one counts. */
async function noteUse({ id, counter }: Passkey, { newCounter, credentialBackedUp }: Use): Promise<void> {
  const { count } = await db().passkey.updateMany({
    where: { id, counter },
    data: { counter: BigInt(newCounter), isBackedUp: credentialBackedUp, lastUsedAt: new Date() },
  });
  if (count !== 1) throw passkeyRefused();
}
