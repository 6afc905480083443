import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { seal, unseal } from "#core/crypto/seal.ts";
import { db } from "#core/db.ts";
import { conflict, ServiceError } from "#core/errors.ts";
import { issueOneTimeToken, type OneTimeTokenData } from "../one-time-token.ts";
import { plainText } from "../plain-text.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { countSecondStepAttempt } from "./count-second-step-attempt.ts";
import { matchingStep, newTotpSecret, TOTP_SEAL, totpUri } from "./totp-code.ts";

/** The current app works until `confirmTotp` has accepted a first code of the new one (S113). */
export async function startTotpEnrolment(actor: Person): Promise<void> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  const sealedSecret = Buffer.from(seal(TOTP_SEAL, newTotpSecret())).toString("base64");
  await db().$transaction((tx) => issueOneTimeToken(tx, { purpose: "totp-enrolment", userId, data: { sealedSecret } }));
}

type TotpEnrolment = { secret: string; uri: string };

/** Requires recent authentication, because anyone who sees the secret can use it as the second step. */
export async function findTotpEnrolment(actor: Person): Promise<TotpEnrolment | undefined> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  const secret = await enrolledSecret(userId);
  if (!secret) return undefined;
  const { username } = await db().user.findUniqueOrThrow({ where: { id: userId }, select: { username: true } });
  return { secret: secret.secret, uri: totpUri(secret.secret, username) };
}

async function enrolledSecret(userId: string): Promise<{ secret: string; tokenHash: string } | undefined> {
  const row = await db().oneTimeToken.findFirst({
    where: { userId, purpose: "totp-enrolment", usedAt: null, expiresAt: { gt: new Date() } },
    orderBy: { createdAt: "desc" },
    select: { tokenHash: true, data: true },
  });
  if (!row) return undefined;
  const { sealedSecret } = row.data as OneTimeTokenData["totp-enrolment"];
  return { secret: unseal(TOTP_SEAL, Buffer.from(sealedSecret, "base64")), tokenHash: row.tokenHash };
}

export async function confirmTotp(actor: Person, input: { code: string }, from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  const code = plainText("code", input.code, 100);
  const enrolment = await enrolledSecret(userId);
  if (!enrolment) throw new ServiceError("gone", "The setup took longer than half an hour. Start again and scan the new code.");
  const attempt = await countSecondStepAttempt(userId, "code", from);
  const step = matchingStep(enrolment.secret, code);
  if (step === undefined) {
    throw new ServiceError(
      "unauthorized",
      "This code is incorrect. Enter the current one, and check that the clock on your phone is right.",
      {
        field: "code",
      },
    );
  }
  const message = "An authenticator app was set up. Signing in now requires a code from it, or another second step.";
  await changeSecondStep(actor, { message, from }, async (tx, record) => {
    const { count } = await tx.oneTimeToken.updateMany({
      where: { tokenHash: enrolment.tokenHash, usedAt: null },
      data: { usedAt: new Date() },
    });
    if (count !== 1) throw conflict("This authenticator app is already set up. Reload this page.");
    const totp = { sealedSecret: seal(TOTP_SEAL, enrolment.secret), confirmedAt: new Date(), lastStep: step };
    await tx.totp.upsert({ where: { userId }, create: { userId, ...totp }, update: { ...totp, createdAt: new Date() } });
    await record({ type: "totp.add" });
  });
  await attempt.succeeded();
}
