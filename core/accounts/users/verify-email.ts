import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { emailChangedEmail } from "../emails/account-emails.ts";
import { parseHandle } from "../handles/parse-handle.ts";
import { findOneTimeToken, linkIsGone, type OneTimeToken, useOneTimeToken } from "../one-time-token.ts";
import { presentedPassword } from "../passwords/check-password.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { insertUser } from "./create-user.ts";
import { requireSignUp } from "./sign-up-policy.ts";

type VerifyEmailInput = {
  /** Only for a sign-up. */
  password?: string;
  username?: string | undefined;
  /** The token of the session that the new one replaces (S34). */
  replaces?: string | undefined;
  actor?: Person | undefined;
};

type VerifiedEmail =
  | {
      purpose: "sign-up";
      userId: string;
      outcome: SignInOutcome;
      returnTo: string | null;
    }
  | { purpose: "change-email"; userId: string };

/** A person who reads the mailbox must not guess the password that somebody else chose. */
const PASSWORD_LIMIT = { limit: 10, windowSeconds: 15 * 60 };

/**
 * The owner of the mailbox may open a link that somebody else requested (S142). So the link alone is not enough: a sign-up also
 * requires its password. A change of address also requires a session of the account.
 */
export async function verifyEmail(token: string, from: RequestOrigin, input: VerifyEmailInput): Promise<VerifiedEmail> {
  const link = await findOneTimeToken(token, "sign-up", "change-email");
  if (!link) throw linkIsGone();
  if (link.purpose === "sign-up") {
    await checkChosenPassword(token, link.data.passwordHash, input.password);
    await requireSignUp(parseEmailAddress(link.data.email), link.data.returnTo);
  } else if (input.actor?.userId !== link.userId) {
    throw new ServiceError("forbidden", "Sign in to the account that will get this address, and confirm it there.");
  }
  return db().$transaction(async (tx) => {
    const used = await useOneTimeToken(tx, token, "sign-up", "change-email");
    return used.purpose === "sign-up" ? finishSignUp(tx, used, input, from) : finishEmailChange(tx, used, from);
  });
}

async function checkChosenPassword(token: string, passwordHash: string, value: unknown): Promise<void> {
  const password = presentedPassword(value ?? "");
  const { giveBack } = await consumeThrottle(throttleKey("verify-email", token), PASSWORD_LIMIT);
  const isRight = await verifyPassword(passwordHash, password, token).catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  if (!isRight) {
    const sentence =
      "This is not the password chosen at sign-up. If you have forgotten it, sign up again. If somebody else signed up, do nothing.";
    throw new ServiceError("unauthorized", sentence, { field: "password" });
  }
  await giveBack();
}

async function finishSignUp(
  tx: Db,
  { data }: OneTimeToken<"sign-up">,
  { username, replaces }: VerifyEmailInput,
  from: RequestOrigin,
): Promise<VerifiedEmail> {
  const { fullName, passwordHash, returnTo } = data;
  const handle = parseHandle(username ?? data.username, "username");
  const email = parseEmailAddress(data.email);
  const userId = await insertUser(tx, { handle, email, fullName, passwordHash }, undefined, from);
  await tx.oneTimeToken.deleteMany({ where: { purpose: "sign-up", subject: email.canonical, usedAt: null } });
  const outcome = await completeSignIn(tx, userId, { methods: ["pwd"], provedBy: "password", replaces }, from);
  return { purpose: "sign-up", userId, outcome, returnTo };
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
    if (isUniqueViolation(error)) throw addressTaken();
    throw error;
  }
  // A reset link in the former mailbox must no longer work.
  await tx.oneTimeToken.deleteMany({ where: { userId: before.id, purpose: "reset-password" } });
  await queueMail(tx, { to: before.email, ...emailChangedEmail({ username: before.username, newEmail: address }) });
  await recordAuditEvent(tx, {
    type: "user.change_email",
    actorId: before.id,
    subjectId: before.id,
    data: { from: before.email, to: address },
    from,
  });
  return { purpose: "change-email", userId: before.id };
}

function addressTaken(): ServiceError {
  return conflict("This e-mail address belongs to another account.", "email");
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";
}
