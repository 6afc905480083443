import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { seal, unseal } from "../crypto/seal.ts";
import { hashToken } from "../crypto/token.ts";
import { type Db, db } from "../db.ts";
import { env } from "../env.ts";
import { findOneTimeToken, issueOneTimeToken, linkIsGone, type OneTimeTokenData, useOneTimeToken } from "./one-time-token.ts";
import { hashPassword } from "./passwords/password-hash.ts";
import { type StartedSiteSession, startSiteSession } from "./sessions/start-site-session.ts";
import { insertUser, type NewUserInput, parseNewUser } from "./users/create-user.ts";

const LEAST_LEFT_MS = 24 * 60 * 60_000;

/** A second start must not invalidate the link of the first. Returns undefined if there is an operator. */
export async function ensureSetupLink(): Promise<string | undefined> {
  return db().$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('operator-setup', 0))`;
    if (await hasOperator(tx)) return undefined;
    const token = (await findPrintedToken(tx)) ?? (await issueToken(tx));
    return `${env().ORIGIN}/setup/${token}`;
  });
}

async function findPrintedToken(tx: Db): Promise<string | undefined> {
  const found = await tx.oneTimeToken.findFirst({
    where: { purpose: "operator-setup", usedAt: null, expiresAt: { gt: new Date(Date.now() + LEAST_LEFT_MS) } },
  });
  const { sealed } = (found?.data ?? {}) as Partial<OneTimeTokenData["operator-setup"]>;
  if (sealed === undefined) return undefined;
  try {
    return unseal("setup link", Buffer.from(sealed, "base64"));
  } catch {
    return undefined; // SECRET_KEY was replaced
  }
}

async function issueToken(tx: Db): Promise<string> {
  const token = await issueOneTimeToken(tx, { purpose: "operator-setup", data: {} });
  const data: OneTimeTokenData["operator-setup"] = { sealed: Buffer.from(seal("setup link", token)).toString("base64") };
  await tx.oneTimeToken.update({ where: { tokenHash: hashToken(token) }, data: { data } });
  return token;
}

export async function isSetupLink(token: string): Promise<boolean> {
  return (await findOneTimeToken(token, "operator-setup")) !== undefined && !(await hasOperator(db()));
}

/** Anyone who can read the terminal is trusted, so the address counts as verified. */
export async function redeemSetupLink(
  token: string,
  input: NewUserInput,
  from: RequestOrigin,
): Promise<StartedSiteSession & { userId: string }> {
  const { handle, email, fullName, password } = await parseNewUser(input);
  const passwordHash = await hashPassword(password);
  return db().$transaction(async (tx) => {
    await useOneTimeToken(tx, token, "operator-setup");
    if (await hasOperator(tx)) throw linkIsGone();
    const userId = await insertUser(tx, { handle, email, fullName, passwordHash, isOperator: true }, undefined, from);
    await recordAuditEvent(tx, { type: "installation.set_up", actorId: userId, subjectId: userId, from });
    return { userId, ...(await startSiteSession(userId, from, tx)) };
  });
}

async function hasOperator(tx: Db): Promise<boolean> {
  return (await tx.user.findFirst({ where: { isOperator: true }, select: { id: true } })) !== null;
}
