import { z } from "zod";
import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import type { PasskeyUse } from "../one-time-tokens/one-time-token.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { passkeyRefused } from "./passkey-refused.ts";

/** The terms of a challenge: one use, by one user if they are known, in the session or sign-in that requested it. */
export type ChallengeTerms = { for: PasskeyUse; userId: string | null; boundTo: string | null };

/** Creates a challenge of 256 random bits (WebAuthn Level 3 §13.4.3). It is stored hashed, and works once, for five minutes. */
export async function issueChallenge({ for: use, userId, boundTo }: ChallengeTerms): Promise<Uint8Array<ArrayBuffer>> {
  // A unique subject: a second tab does not end what was begun in the first.
  const options = { purpose: "passkey-challenge" as const, subject: newId(), data: { for: use, boundTo } };
  const challenge = await issueOneTimeToken(db(), userId === null ? options : { ...options, userId });
  return Uint8Array.from(Buffer.from(challenge, "base64url"));
}

const clientData = z.object({ challenge: z.string().max(200) });

/**
 * Uses up a response's challenge, whether or not the response turns out to be correct: no challenge works twice, or for another
 * user, session or purpose.
 * @returns the challenge, in base64url
 * @throws ServiceError `unauthorized`
 */
export async function takeChallenge(clientDataJSON: string, terms: ChallengeTerms): Promise<string> {
  const challenge = readChallenge(clientDataJSON);
  const taken = await db()
    .$transaction((tx) => useOneTimeToken(tx, challenge, "passkey-challenge"))
    .catch((error: unknown) => {
      throw isServiceError(error) ? passkeyRefused() : error;
    });
  const isMeant = taken.data.for === terms.for && taken.data.boundTo === terms.boundTo && taken.userId === terms.userId;
  if (!isMeant) throw passkeyRefused();
  return challenge;
}

/** The challenge named by a response. @throws ServiceError `unauthorized` */
export function readChallenge(clientDataJSON: string): string {
  try {
    return clientData.parse(JSON.parse(Buffer.from(clientDataJSON, "base64url").toString())).challenge;
  } catch {
    throw passkeyRefused();
  }
}
