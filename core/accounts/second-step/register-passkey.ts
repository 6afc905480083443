import { type RegistrationResponseJSON, verifyRegistrationResponse } from "@simplewebauthn/server";
import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { describeDevice } from "../sessions/describe-device.ts";
import { requireRoomForPasskey } from "./begin-passkey-registration.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { takeChallenge } from "./passkey-challenge.ts";
import { parseRegistration } from "./passkey-response.ts";
import { relyingParty } from "./relying-party.ts";

/**
 * Stores a passkey that a browser has created (WebAuthn Level 3 §7.1), under a name guessed from the device.
 * @param answer the browser's unchanged response to `beginPasskeyRegistration`
 * @throws ServiceError `invalid_request` if it was not created for this session, `conflict`, `reauthentication_required`
 */
export async function registerPasskey(
  actor: Person,
  answer: unknown,
  from: RequestOrigin,
): Promise<{ id: string; name: string }> {
  const { userId } = actor;
  const { response, credential, isBackedUp } = await verified(actor, answer);
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
  const change = {
    letter: `the passkey "${name}" was added: it signs you in now.`,
    work: async (tx: Db) => {
      requireRoomForPasskey(await tx.passkey.count({ where: { userId } }));
      // §7.1 step 26: a credential belongs to one account only, whoever claims it.
      const { count } = await tx.passkey.createMany({ data: [passkey], skipDuplicates: true });
      if (count === 0) throw new ServiceError("conflict", "This passkey is registered already.");
      await recordAuditEvent(tx, { type: "passkey.add", actorId: userId, subjectId: userId, data: { name }, from });
    },
  };
  await changeSecondStep(actor, change, from);
  return { id: passkey.id, name };
}

async function verified({ userId, sessionId }: Person, answer: unknown) {
  try {
    const response = parseRegistration(answer);
    const terms = { for: "register" as const, userId, boundTo: sessionId };
    const expectedChallenge = await takeChallenge(response.response.clientDataJSON, terms);
    const { id: expectedRPID, origin: expectedOrigin } = relyingParty();
    const { verified: isVerified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedRPID,
      expectedOrigin,
      requireUserVerification: false,
    });
    if (!isVerified) throw new Error("the registration was not verified");
    return { response, credential: registrationInfo.credential, isBackedUp: registrationInfo.credentialBackedUp };
  } catch (cause) {
    throw new ServiceError("invalid_request", "This passkey could not be registered. Begin again.", { cause });
  }
}

/** Where the key is stored, as far as the browser says: it helps its owner tell several apart, and can be renamed. */
function guessName({ authenticatorAttachment, response }: RegistrationResponseJSON, from: RequestOrigin): string {
  const transports = new Set<string>(response.transports);
  if (authenticatorAttachment === "platform" || transports.has("internal")) return describeDevice(from.userAgent);
  if (transports.has("hybrid")) return "Telephone or tablet";
  return "Security key";
}
