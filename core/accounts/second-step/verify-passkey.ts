import { isIP } from "node:net";
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
} from "@simplewebauthn/server";
import { z } from "zod";
import { isEqualInConstantTime } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import type { Passkey } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { log } from "../../log.ts";
import { issueOneTimeToken, type PasskeyUse, useOneTimeToken } from "../one-time-token.ts";

type VerifiedPasskey = { userId: string; passkeyId: string };

/**
 * WebAuthn Level 3 §7.2.
 * @param terms if `userId` is null, the passkey itself identifies the user
 * @param isVerificationRequired true if the passkey counts as both steps
 */
export async function verifyPasskey(
  answer: unknown,
  terms: ChallengeTerms,
  { isVerificationRequired }: { isVerificationRequired: boolean },
): Promise<VerifiedPasskey> {
  const response = parseAuthentication(answer);
  const expectedChallenge = await consumeChallenge(response.response.clientDataJSON, terms);
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
    // A counter that goes back may mean that the authenticator was cloned (§6.1.1).
    log().warn({ err: error, userId: passkey.userId, passkeyId: passkey.id }, "passkey refused");
    throw passkeyRefused(error);
  });
  if (!verified.verified) throw passkeyRefused();
  await recordUse(passkey, verified.authenticationInfo);
  return { userId: passkey.userId, passkeyId: passkey.id };
}

/** §7.2 step 6: the user that the passkey names must own the passkey. */
function requireOwnHandle(userHandle: string | undefined | null, { userId }: Passkey, terms: ChallengeTerms): void {
  if (!userHandle && terms.userId !== null) return;
  const named = Buffer.from(userHandle ?? "", "base64url").toString();
  if (!isEqualInConstantTime(named, userId)) throw passkeyRefused();
}

type Use = { newCounter: number; credentialBackedUp: boolean };

/** If an authenticator and its clone respond with the same counter, only one may succeed. */
async function recordUse({ id, counter }: Passkey, { newCounter, credentialBackedUp }: Use): Promise<void> {
  const { count } = await db().passkey.updateMany({
    where: { id, counter },
    data: { counter: BigInt(newCounter), isBackedUp: credentialBackedUp, lastUsedAt: new Date() },
  });
  if (count !== 1) throw passkeyRefused();
}

export type ChallengeTerms = { for: PasskeyUse; userId: string | null; boundTo: string | null };

/** The challenge has 256 random bits (WebAuthn Level 3 §13.4.3). */
export async function issueChallenge({ for: use, userId, boundTo }: ChallengeTerms): Promise<Uint8Array<ArrayBuffer>> {
  // The subject is unique, because a second tab must not invalidate the first one's challenge.
  const options = { purpose: "passkey-challenge" as const, subject: newId(), data: { for: use, boundTo } };
  const challenge = await issueOneTimeToken(db(), userId === null ? options : { ...options, userId });
  return Uint8Array.from(Buffer.from(challenge, "base64url"));
}

const clientData = z.object({ challenge: z.string().max(200) });

/** Uses the challenge up even if the response is wrong. Returns the challenge in base64url. */
export async function consumeChallenge(clientDataJSON: string, terms: ChallengeTerms): Promise<string> {
  const challenge = readChallenge(clientDataJSON);
  const taken = await db()
    .$transaction((tx) => useOneTimeToken(tx, challenge, "passkey-challenge"))
    .catch((error: unknown) => {
      throw isServiceError(error) ? passkeyRefused() : error;
    });
  const matchesTerms = taken.data.for === terms.for && taken.data.boundTo === terms.boundTo && taken.userId === terms.userId;
  if (!matchesTerms) throw passkeyRefused();
  return challenge;
}

export function readChallenge(clientDataJSON: string): string {
  try {
    return clientData.parse(JSON.parse(Buffer.from(clientDataJSON, "base64url").toString())).challenge;
  } catch {
    throw passkeyRefused();
  }
}

// The library does not check the shape (WebAuthn Level 3 §5.1.8).
const base64url = (maxCharacters: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .max(maxCharacters);

const credential = {
  id: base64url(1_400), // §4: at most 1,023 bytes
  rawId: base64url(1_400),
  type: z.literal("public-key"),
  authenticatorAttachment: z.string().max(40).nullish(),
};

const authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_000),
    authenticatorData: base64url(8_000),
    signature: base64url(8_000),
    userHandle: base64url(200).nullish(),
  }),
});

const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_000),
    attestationObject: base64url(40_000),
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .optional(),
  }),
});

export function parseAuthentication(value: unknown): AuthenticationResponseJSON {
  return { ...parse(authentication, value), clientExtensionResults: {} } as AuthenticationResponseJSON;
}

export function parseRegistration(value: unknown): RegistrationResponseJSON {
  return { ...parse(registration, value), clientExtensionResults: {} } as RegistrationResponseJSON;
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw passkeyRefused(parsed.error);
  return parsed.data;
}

/** Every unknown or wrong passkey gets this error (S115). */
export function passkeyRefused(cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", "This passkey did not work. Try again, or use another method.", { cause });
}

/** Passkeys are bound to the host of ORIGIN (WebAuthn Level 3 §4). */
export function relyingParty(): { id: string; name: string; origin: string } {
  const { ORIGIN, BRAND_NAME } = env();
  return { id: new URL(ORIGIN).hostname, name: BRAND_NAME, origin: ORIGIN };
}

/** Browsers support passkeys only for a host with a name, over https or on the local machine. */
export function arePasskeysAvailable(): boolean {
  const { protocol, hostname } = new URL(env().ORIGIN);
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, "")) === 0;
  return isNamed && (protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost"));
}
