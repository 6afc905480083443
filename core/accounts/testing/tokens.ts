import { type Scope, scopes } from "@keyhook/sdk";
import type { TokenHolder } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";

export async function someApp(
  data: { isFirstParty?: boolean; boundOrgId?: string; privileges?: string[] } = {},
): Promise<string> {
  const [id, clientId] = [newId(), newId()];
  await db().oAuthApp.create({
    data: { id, clientId, name: "Night Ferry", redirectUris: [], postLogoutRedirectUris: [], scopes, ...data },
  });
  return clientId;
}

export async function appToken(
  userId: string,
  { scopes, orgIds = [], clientId }: { scopes: readonly Scope[]; orgIds?: string[]; clientId?: string },
): Promise<TokenHolder & { clientId: string }> {
  const app = clientId ?? (await someApp());
  const [consentId, tokenId] = [newId(), newId()];
  const consent = { id: consentId, userId, clientId: app, scopes: [...scopes], orgIds, clientFingerprint: "x" };
  await db().oAuthConsent.create({ data: consent });
  await db().oAuthGrant.create({ data: { id: tokenId, consentId, userId, clientId: app, payload: {}, orgIds } });
  return { kind: "token", userId, tokenId, scopes, orgIds, clientId: app };
}

export async function exchangedToken(userId: string, clientId: string, orgId: string, scopes: Scope[]): Promise<TokenHolder> {
  const tokenId = newId();
  const grant = { id: tokenId, userId, clientId, boundOrgId: orgId, payload: {}, orgIds: [orgId] };
  await db().oAuthGrant.create({ data: grant });
  return { kind: "token", userId, tokenId, scopes, orgIds: [orgId], clientId, boundOrgId: orgId };
}

export async function ownToken(userId: string, scopes: readonly Scope[]): Promise<TokenHolder & { clientId: null }> {
  const id = newId();
  await db().personalAccessToken.create({
    data: { id, userId, name: "laptop", tokenHash: id, last4: "1234", scopes: [...scopes] },
  });
  return { kind: "token", userId, tokenId: id, scopes, orgIds: "all", clientId: null };
}
