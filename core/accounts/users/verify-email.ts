import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { parseHandle } from "../handles/parse-handle.ts";
import { emailChangedLetter } from "../mails/email-change-letters.ts";
import { linkIsGone, type OneTimeToken } from "../one-time-tokens/one-time-token.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { insertUser } from "./insert-user.ts";

export type VerifiedEmail = {
  purpose: "sign-up" | "change-email";
  userId: string;
  username: string;
  /** Where the person was going when they signed up; a path of ours. */
  returnTo: string | null;
};

/**
 * Uses the link of a sign-up, which makes the account, or of a changed e-mail address. Nobody is signed in by it: the link proves
 * who reads the mailbox, not who chose the password, so a sign-up with another's address gives nothing to either.
 * @param input.username another name, when the one asked for was taken meanwhile
 * @throws ServiceError `gone`; `conflict` on `username` (the link still works) or `email`
 */
export async function verifyEmail(token: string, from: RequestOrigin, input: { username?: string } = {}): Promise<VerifiedEmail> {
  return db().$transaction(async (tx) => {
    const link = await useOneTimeToken(tx, token, "sign-up", "change-email");
    return link.purpose === "sign-up" ? finishSignUp(tx, link, input.username, from) : finishEmailChange(tx, link, from);
  });
}

async function finishSignUp(
  tx: Db,
  { data }: OneTimeToken<"sign-up">,
  otherUsername: string | undefined,
  from: RequestOrigin,
): Promise<VerifiedEmail> {
  const { fullName, passwordHash, returnTo } = data;
  const handle = parseHandle(otherUsername ?? data.username, "username");
  const userId = await insertUser(tx, { handle, email: parseEmailAddress(data.email), fullName, passwordHash }, undefined, from);
  return { purpose: "sign-up", userId, username: handle.spelled, returnTo };
}

async function finishEmailChange(tx: Db, link: OneTimeToken<"change-email">, from: RequestOrigin): Promise<VerifiedEmail> {
  const before = await tx.user.findUnique({ where: { id: link.userId ?? "", disabledAt: null } });
  if (!before) throw linkIsGone();
  const { address, canonical } = parseEmailAddress(link.data.email);
  const other = await tx.user.findUnique({ where: { emailCanonical: canonical }, select: { id: true } });
  if (other && other.id !== before.id) throw addressTaken();
  try {
    await tx.user.update({
      where: { id: before.id },
      data: { email: address, emailCanonical: canonical, emailVerifiedAt: new Date() },
    });
  } catch (error) {
    // Another account confirmed the address at this very moment.
    if (isUniqueViolation(error)) throw addressTaken();
    throw error;
  }
  // A reset link in the former mailbox must not outlive it.
  await tx.oneTimeToken.deleteMany({ where: { userId: before.id, purpose: "reset-password" } });
  await queueMail(tx, { to: before.email, ...emailChangedLetter({ username: before.username, newEmail: address }) });
  await recordAuditEvent(tx, {
    type: "user.change_email",
    actorId: before.id,
    subjectId: before.id,
    data: { from: before.email, to: address },
    from,
  });
  return { purpose: "change-email", userId: before.id, username: before.username, returnTo: null };
}

function addressTaken(): ServiceError {
  return new ServiceError("conflict", "This e-mail address belongs to another account.", { field: "email" });
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";
}
