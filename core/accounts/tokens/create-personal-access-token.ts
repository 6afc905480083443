import { isScope, type Scope, scopes } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { displayText } from "../display-text.ts";
import { lockLiveUser } from "../users/lock-live-user.ts";

export const TOKEN_NAME_MAX_CHARACTERS = 60;
export const TOKEN_MAX_DAYS = 366;

// Enough for anybody's machines, and few enough for an unpaged list.
export const TOKENS_MAX_PER_USER = 100;

export type NewPersonalAccessToken = {
  name: string;
  scopes: readonly string[];
  /** Whole days, 1 to 366; null for a token that works until it is revoked. */
  expiresInDays: number | null;
};

/**
 * Creates a token for a user's own programs (git, command line): TOKEN_PREFIX and 256 random bits. It is shown only once; its
 * hash and last four characters are stored (S55).
 * @throws ServiceError `invalid_request`, `conflict` (too many), `reauthentication_required`, `not_found`
 */
export async function createPersonalAccessToken(
  actor: Actor,
  userId: string,
  input: NewPersonalAccessToken,
  from: RequestOrigin,
): Promise<{ id: string; token: string; expiresAt: Date | null }> {
  await requirePermission(actor, "personal_access_token.create", { userId }, { what: "User" });
  const name = displayText("name", input.name, { maxCharacters: TOKEN_NAME_MAX_CHARACTERS });
  const granted = parseTokenScopes(input.scopes);
  const expiresAt = expiryOf(input.expiresInDays);
  const id = newId();
  const token = newToken(env().TOKEN_PREFIX);
  await db().$transaction(async (tx) => {
    await lockLiveUser(tx, userId);
    const live = await tx.personalAccessToken.count({ where: { userId, revokedAt: null } });
    if (live >= TOKENS_MAX_PER_USER) throw new ServiceError("conflict", "There are too many tokens. Revoke one first.");
    await tx.personalAccessToken.create({
      data: { id, userId, name, tokenHash: hashToken(token), last4: token.slice(-4), scopes: granted, expiresAt },
    });
    await recordAuditEvent(tx, {
      type: "personal_access_token.create",
      actorId: actorId(actor),
      subjectId: userId,
      data: { tokenId: id, name, scopes: granted, expiresAt: expiresAt?.toISOString() ?? null },
      from,
    });
  });
  return { id, token, expiresAt };
}

function parseTokenScopes(asked: readonly string[]): Scope[] {
  const unknown = asked.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    throw new ServiceError("invalid_request", `There is no such scope. Choose from ${scopes.join(", ")}.`, { field: "scopes" });
  }
  if (asked.length === 0) throw new ServiceError("invalid_request", "Choose at least one scope.", { field: "scopes" });
  return scopes.filter((scope) => asked.includes(scope));
}

function expiryOf(days: number | null): Date | null {
  if (days === null) return null;
  if (!Number.isInteger(days) || days < 1 || days > TOKEN_MAX_DAYS) {
    throw new ServiceError("invalid_request", `Enter a number of days from 1 to ${TOKEN_MAX_DAYS}.`, { field: "expiresInDays" });
  }
  return new Date(Date.now() + days * 24 * 60 * 60 * 1000);
}
