import { isScope, type Scope, scopes } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { checkAll, conflict, invalidRequest, notFound } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { displayText } from "../plain-text.ts";
import { lockLiveUser } from "../users/find-user.ts";

const TOKEN_NAME_MAX_CHARACTERS = 60;
const TOKEN_MAX_DAYS = 366;

const TOKENS_MAX_PER_USER = 100;

type NewPersonalAccessToken = {
  name: string;
  scopes: readonly string[];
  /** From 1 to 366. Null for a token that works until it is revoked. */
  expiresInDays: number | null;
};

/** The token is shown only once (S55). */
export async function createPersonalAccessToken(
  actor: Actor,
  userId: string,
  input: NewPersonalAccessToken,
  from: RequestOrigin,
): Promise<{ id: string; token: string; expiresAt: Date | null }> {
  await requirePermission(actor, "personal_access_token.create", { userId }, { what: "User" });
  const { name, granted, expiresAt } = await checkAll({
    name: () => displayText("name", input.name, { maxCharacters: TOKEN_NAME_MAX_CHARACTERS }),
    granted: () => parseTokenScopes(input.scopes),
    expiresAt: () => expiryOf(input.expiresInDays),
  });
  const id = newId();
  const token = newToken(env().TOKEN_PREFIX);
  await db().$transaction(async (tx) => {
    await lockLiveUser(tx, userId);
    const live = await tx.personalAccessToken.count({ where: { userId, revokedAt: null } });
    if (live >= TOKENS_MAX_PER_USER) throw conflict(`You have ${live} access tokens, which is the maximum. Revoke one first.`);
    await tx.personalAccessToken.create({
      data: { id, userId, name, tokenHash: hashToken(token), last4: token.slice(-4), scopes: granted, expiresAt },
    });
    await recordAuditEvent(tx, {
      type: "personal_access_token.create",
      actor,
      subjectId: userId,
      data: { tokenId: id, name, scopes: granted, expiresAt: expiresAt?.toISOString() ?? null },
      from,
    });
  });
  return { id, token, expiresAt };
}

function parseTokenScopes(asked: readonly string[]): Scope[] {
  const unknown = asked.find((scope) => !isScope(scope));
  if (unknown !== undefined) throw invalidRequest(`This scope does not exist. Choose from ${scopes.join(", ")}.`, "scopes");
  if (asked.length === 0) throw invalidRequest("Choose at least one scope.", "scopes");
  return scopes.filter((scope) => asked.includes(scope));
}

function expiryOf(days: number | null): Date | null {
  if (days === null) return null;
  if (!Number.isInteger(days) || days < 1 || days > TOKEN_MAX_DAYS) {
    throw invalidRequest(`Enter a number of days from 1 to ${TOKEN_MAX_DAYS}.`, "expiresInDays");
  }
  return new Date(Date.now() + days * 24 * 60 * 60 * 1000);
}

export type ListedPersonalAccessToken = {
  id: string;
  name: string;
  last4: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  isExpired: boolean;
};

export async function listPersonalAccessTokens(actor: Actor, userId: string): Promise<ListedPersonalAccessToken[]> {
  await requirePermission(actor, "personal_access_token.list", { userId }, { what: "User" });
  const rows = await db().personalAccessToken.findMany({
    where: { userId, revokedAt: null },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: TOKENS_MAX_PER_USER,
    select: { id: true, name: true, last4: true, scopes: true, createdAt: true, expiresAt: true, lastUsedAt: true },
  });
  const now = Date.now();
  return rows.map((row) => ({
    ...row,
    scopes: row.scopes as Scope[],
    isExpired: row.expiresAt !== null && row.expiresAt.getTime() <= now,
  }));
}

/** Another user's token is `not_found` (S136). */
export async function revokePersonalAccessToken(actor: Actor, tokenId: string, from: RequestOrigin): Promise<void> {
  if (!isId(tokenId)) throw notFound("Token");
  await db().$transaction(async (tx) => {
    const token = await tx.personalAccessToken.findUnique({ where: { id: tokenId }, select: { userId: true, name: true } });
    if (!token || !(await may(actor, "personal_access_token.revoke", { userId: token.userId }, tx))) throw notFound("Token");
    const { count } = await tx.personalAccessToken.updateMany({
      where: { id: tokenId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 0) throw notFound("Token");
    await recordAuditEvent(tx, {
      type: "personal_access_token.revoke",
      actor,
      subjectId: token.userId,
      data: { tokenId, name: token.name },
      from,
    });
  });
}
