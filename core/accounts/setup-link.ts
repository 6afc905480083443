import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { type Db, db } from "../db.ts";
import { env } from "../env.ts";
import { findOneTimeToken, issueOneTimeToken, linkIsGone, useOneTimeToken } from "./one-time-token.ts";
import { hashPassword } from "./passwords/password-hash.ts";
import { type StartedSiteSession, startSiteSession } from "./sessions/start-site-session.ts";
import { insertUser, type NewUserInput, parseNewUser } from "./users/create-user.ts";

/**
 * The link that creates the first operator: a new one at each start while there is none; the previous one stops working.
 * @returns the URL to print, or undefined if there is an operator
 */
export async function ensureSetupLink(): Promise<string | undefined> {
  return db().$transaction(async (tx) => {
    if (await hasOperator(tx)) return undefined;
    const token = await issueOneTimeToken(tx, { purpose: "operator-setup", data: {} });
    return `${env().ORIGIN}/setup/${token}`;
  });
}

/** Whether a setup link works, for the page that it opens. */
export async function isSetupLink(token: string): Promise<boolean> {
  return (await findOneTimeToken(token, "operator-setup")) !== undefined && !(await hasOperator(db()));
}

/**
 * Creates the operator and signs them in. Their email address counts as verified: whoever reads the machine's terminal is
 * trusted, and mail may not be set up yet.
 * @throws ServiceError `gone`, `invalid_request`, `conflict`; after the last two the link still works
 */
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
