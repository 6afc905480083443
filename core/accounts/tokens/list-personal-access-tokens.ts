import type { Scope } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { TOKENS_MAX_PER_USER } from "./create-personal-access-token.ts";

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

/** The unrevoked tokens of a user, including expired ones, the newest first. */
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
