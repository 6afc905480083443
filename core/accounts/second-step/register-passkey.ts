import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { decodeAttestationObject, isoCBOR } from "@simplewebauthn/server/helpers";
import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { conflict, ServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { describeDevice } from "../sessions/describe-device.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { countChallenge } from "./count-second-step-attempt.ts";
import { arePasskeysAvailable, consumeChallenge, issueChallenge, parseRegistration, relyingParty } from "./verify-passkey.ts";

const PASSKEYS_MAX = 20;

/** The longest key of the requested algorithms, for ML-DSA-44, has about 1,330 bytes. */
const PUBLIC_KEY_MAX_BYTES = 2_000;

const TIMEOUT_MILLISECONDS = 5 * 60 * 1000;

/** WebAuthn Level 3 §5.4. Requests no attestation, because every manufacturer is accepted. */
export async function beginPasskeyRegistration(
  actor: Person,
  from: RequestOrigin,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { userId, sessionId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  if (!arePasskeysAvailable()) throw conflict("Passkeys require a domain name and https.");
  await countChallenge(from);
  const user = await db().user.findUniqueOrThrow({ where: { id: userId }, include: { passkeys: true } });
  requireRoomForPasskey(user.passkeys.length);
  const { id, name } = relyingParty();
  return generateRegistrationOptions({
    rpName: name,
    rpID: id,
    // The user's ID stays when the address changes, and reveals nothing about the user (§14.6.1).
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

function requireRoomForPasskey(passkeys: number): void {
  if (passkeys < PASSKEYS_MAX) return;
  throw conflict(`An account can have at most ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** WebAuthn Level 3 §7.1. `answer` is the browser's unchanged response to `beginPasskeyRegistration`. */
export async function registerPasskey(
  actor: Person,
  answer: unknown,
  from: RequestOrigin,
): Promise<{ id: string; name: string }> {
  const { userId } = actor;
  const { response, credential, isBackedUp } = await verifyRegistration(actor, answer);
  const name = guessName(response, from);
  const passkey = {
    id: newId(),
    userId,
    credentialId: credential.id,
    publicKey: credential.publicKey,
    counter: BigInt(credential.counter),
    transports: response.response.transports ?? [],
    name,
    isBackedUp,
  };
  const message = `The passkey "${name}" was added. You can now sign in with it.`;
  await changeSecondStep(actor, { message, from }, async (tx, record) => {
    requireRoomForPasskey(await tx.passkey.count({ where: { userId } }));
    // §7.1 step 26: a credential belongs to only one account.
    const { count } = await tx.passkey.createMany({ data: [passkey], skipDuplicates: true });
    if (count === 0) throw conflict("This passkey is already registered.");
    await record({ type: "passkey.add", data: { name } });
  });
  return { id: passkey.id, name };
}

async function verifyRegistration({ userId, sessionId }: Person, answer: unknown) {
  try {
    const response = withoutStatement(parseRegistration(answer));
    const terms = { for: "register" as const, userId, boundTo: sessionId };
    const expectedChallenge = await consumeChallenge(response.response.clientDataJSON, terms);
    const { id: expectedRPID, origin: expectedOrigin } = relyingParty();
    const { verified: isVerified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedRPID,
      expectedOrigin,
      requireUserVerification: false,
    });
    if (!isVerified) throw new Error("the registration was not verified");
    const { credential, credentialBackedUp } = registrationInfo;
    // The library reads ID and key from the attestation, where both can have any length (S137).
    if (credential.id !== response.id) throw new Error("the attestation is for another ID");
    if (credential.publicKey.length > PUBLIC_KEY_MAX_BYTES) throw new Error("the public key is too long");
    return { response, credential, isBackedUp: credentialBackedUp };
  } catch (cause) {
    throw new ServiceError("invalid_request", "This passkey could not be registered. Try again.", { cause });
  }
}

/** For "android-key", the library would fetch revocation lists from addresses that the statement itself names (S117). */
function withoutStatement(answer: RegistrationResponseJSON): RegistrationResponseJSON {
  const authData = decodeAttestationObject(Buffer.from(answer.response.attestationObject, "base64url")).get("authData");
  const attestation = new Map<string, string | Map<string, never> | Uint8Array>([
    ["fmt", "none"],
    ["attStmt", new Map<string, never>()],
    ["authData", authData],
  ]);
  const attestationObject = Buffer.from(isoCBOR.encode(attestation)).toString("base64url");
  return { ...answer, response: { ...answer.response, attestationObject } };
}

function guessName({ authenticatorAttachment, response }: RegistrationResponseJSON, from: RequestOrigin): string {
  const transports = new Set<string>(response.transports);
  if (authenticatorAttachment === "platform" || transports.has("internal")) return describeDevice(from.userAgent);
  if (transports.has("hybrid")) return "Phone or tablet";
  return "Security key";
}
