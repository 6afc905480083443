import { generateRegistrationOptions, type PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { countChallenge } from "./count-second-step-attempt.ts";
import { issueChallenge } from "./passkey-challenge.ts";
import { arePasskeysAvailable, relyingParty } from "./relying-party.ts";

/** More devices than anybody has. */
export const PASSKEYS_MAX = 20;

const TIMEOUT_MILLISECONDS = 5 * 60 * 1000;

/**
 * The options with which a browser creates a passkey (WebAuthn Level 3 §5.4). A passkey stored on the device with user
 * verification is preferred, since it is enough to sign in; a plain security key works as a second step. No attestation: we
 * trust the user's choice of manufacturer.
 * @throws ServiceError `reauthentication_required`, `conflict` (too many), `rate_limited`
 */
export async function beginPasskeyRegistration(
  actor: Person,
  from: RequestOrigin,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { userId, sessionId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  if (!arePasskeysAvailable()) throw new ServiceError("conflict", "Passkeys need this service to have a name and https.");
  await countChallenge(from);
  const user = await db().user.findUniqueOrThrow({ where: { id: userId }, include: { passkeys: true } });
  requireRoomForPasskey(user.passkeys.length);
  const { id, name } = relyingParty();
  return generateRegistrationOptions({
    rpName: name,
    rpID: id,
    // Our id instead of the e-mail address: it stays when the address changes, and reveals nothing about the user (§14.6.1).
    userID: Uint8Array.from(Buffer.from(userId)),
    userName: user.username,
    userDisplayName: user.fullName || user.username,
    challenge: await issueChallenge({ for: "register", userId, boundTo: sessionId }),
    timeout: TIMEOUT_MILLISECONDS,
    attestationType: "none",
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    excludeCredentials: user.passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
  });
}

/** @throws ServiceError `conflict` */
export function requireRoomForPasskey(passkeys: number): void {
  if (passkeys < PASSKEYS_MAX) return;
  throw new ServiceError("conflict", `An account has at most ${PASSKEYS_MAX} passkeys. Remove one that you no longer use first.`);
}
