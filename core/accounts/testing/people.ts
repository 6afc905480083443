import { operatorCommand, type Person, personActor } from "../../access/actor.ts";
import { ENTRIES_PER_HOUR } from "../../audit/hourly-allowance.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { createOrganization } from "../organizations/create-organization.ts";
import { addMember } from "../organizations/members.ts";
import { hashPassword, isOutdatedHash } from "../passwords/password-hash.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import { startSiteSession } from "../sessions/start-site-session.ts";
import { insertUser, type NewUserInput, parseNewUser } from "../users/create-user.ts";

export const PASSWORD = "a lantern over the quay";

export const from: RequestOrigin = {
  ip: "192.0.2.7",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0",
};

export function fromElsewhere(): RequestOrigin {
  const [a, b, c] = Buffer.from(newId(), "hex").subarray(-3);
  return { ...from, ip: `10.${a}.${b}.${c}` };
}

export function freshName(stem: string): string {
  return `${stem}-${newId().slice(-10)}`;
}

export type TestPerson = { id: string; username: string; email: string; token: string; actor: Person };

export async function signedInPerson(stem = "ada", options: { isOperator?: boolean } = {}): Promise<TestPerson> {
  const name = freshName(stem);
  const email = `${name}@example.test`;
  const { id, username } = await userWithPassword({ username: name, email, password: PASSWORD, ...options }, from);
  return { id, username, email, ...(await anotherSession(id)) };
}

const LONG_PASSWORD = "a long enough passphrase";

/** Hashing is slow by design, and hundreds of test files use these passwords. */
const hashes = new Map<string, string>([
  [PASSWORD, "$argon2id$v=19$m=19456,t=2,p=1$8o6ltAZ66mgY5PPDjgsoxA$C95nICBpQnW10pxPyR/NZwFxh31/lT0x242VOWsuKCE"],
  [LONG_PASSWORD, "$argon2id$v=19$m=19456,t=2,p=1$dWG+vmMX/mlsoP8PL/haHQ$zqWtaE6X8v4USUT9pR0CRyO0CPwEOy9JKWQmerYVbD0"],
]);

export async function userWithPassword(
  input: NewUserInput & { isOperator?: boolean },
  origin: RequestOrigin,
): Promise<{ id: string; username: string }> {
  const { handle, email, fullName, password } = await parseNewUser(input);
  const known = hashes.get(password);
  const passwordHash = known && !isOutdatedHash(known) ? known : await hashPassword(password);
  hashes.set(password, passwordHash);
  const user = { handle, email, fullName, passwordHash, isOperator: input.isOperator };
  const id = await db().$transaction((tx) => insertUser(tx, user, null, origin));
  return { id, username: handle.spelled };
}

export async function anotherSession(userId: string): Promise<{ token: string; actor: Person }> {
  const { token } = await startSiteSession(userId, from);
  const session = await findSiteSession(token);
  if (!session) throw new Error("the session that was just started was not found");
  return { token, actor: personActor(session) };
}

/** Writes as many entries as the audit log accepts in an hour (S144). */
export async function fillAuditHour(userId: string): Promise<void> {
  await pool().query(
    `INSERT INTO audit_event (id, type, actor_id, created_at)
     SELECT gen_random_uuid(), 'user.update_profile', $1, now() - interval '10 minutes' FROM generate_series(1, $2)`,
    [userId, ENTRIES_PER_HOUR],
  );
}

export function staleActor(actor: Person): Person {
  return { ...actor, authenticatedAt: new Date(Date.now() - 60 * 60 * 1000) };
}

export async function organizationOf(
  admin: TestPerson,
  members: [TestPerson, string][] = [],
): Promise<{ id: string; name: string }> {
  const organization = await createOrganization(admin.actor, { name: freshName("org") }, from);
  for (const [{ username }, role] of members) await addMember(operatorCommand, organization.id, { username, role }, from);
  return organization;
}

export async function emailsTo(address: string): Promise<{ subject: string; text: string }[]> {
  return db().mail.findMany({
    where: { recipient: address },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    select: { subject: true, text: true },
  });
}

export async function linkedToken(address: string, path: "verify-email" | "reset-password" | "invitations"): Promise<string> {
  for (const { text } of await emailsTo(address)) {
    const token = new RegExp(`/${path}/([A-Za-z0-9_-]+)`).exec(text)?.[1];
    if (token) return token;
  }
  throw new Error(`no email to ${address} has a link to /${path}/`);
}

export async function outcomes(operations: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(operations);
  return settled
    .map((one) => (one.status === "fulfilled" ? "ok" : ((one.reason as { code?: string }).code ?? String(one.reason))))
    .sort();
}

export async function auditTrail(of: { subjectId?: string; orgId?: string }): Promise<string[]> {
  const events = await db().auditEvent.findMany({
    where: of,
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    select: { type: true },
  });
  return events.map(({ type }) => type);
}
