import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import type { OneTimeTokenData } from "../one-time-tokens/one-time-token.ts";
import { newTotpSecret, TOTP_SEAL, totpUri } from "./totp-code.ts";

/**
 * Creates the secret of a new authenticator app. It has no effect until `confirmTotp` has accepted a first code; a current app
 * works until then, so that switching phones never leaves a user without one.
 * @throws ServiceError `reauthentication_required` (S113)
 */
export async function startTotpEnrolment(actor: Person): Promise<void> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  const sealedSecret = Buffer.from(seal(TOTP_SEAL, newTotpSecret())).toString("base64");
  await db().$transaction((tx) => issueOneTimeToken(tx, { purpose: "totp-enrolment", userId, data: { sealedSecret } }));
}

export type TotpEnrolment = { secret: string; uri: string };

/**
 * The secret that waits for its first code, to be shown; undefined if there is none or it has expired.
 * @throws ServiceError `reauthentication_required`: whoever sees it has the second step
 */
export async function findTotpEnrolment(actor: Person): Promise<TotpEnrolment | undefined> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  const secret = await enrolledSecret(userId);
  if (!secret) return undefined;
  const { username } = await db().user.findUniqueOrThrow({ where: { id: userId }, select: { username: true } });
  return { secret: secret.secret, uri: totpUri(secret.secret, username) };
}

/** The secret and the row that stores it. */
export async function enrolledSecret(userId: string): Promise<{ secret: string; tokenHash: string } | undefined> {
  const row = await db().oneTimeToken.findFirst({
    where: { userId, purpose: "totp-enrolment", usedAt: null, expiresAt: { gt: new Date() } },
    orderBy: { createdAt: "desc" },
    select: { tokenHash: true, data: true },
  });
  if (!row) return undefined;
  const { sealedSecret } = row.data as OneTimeTokenData["totp-enrolment"];
  return { secret: unseal(TOTP_SEAL, Buffer.from(sealedSecret, "base64")), tokenHash: row.tokenHash };
}
