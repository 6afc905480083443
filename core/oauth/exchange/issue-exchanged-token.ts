import type { KoaContextWithOIDC } from "oidc-provider";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { newId } from "#core/ids.ts";
import { requestRows } from "../artifacts/request-rows.ts";
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import { ACCESS_TOKEN_MAX_SECONDS, ACCESS_TOKEN_SECONDS } from "../lifetimes.ts";
import { apiAudience } from "../resources/resource-servers.ts";
import { findAccount, personClaims } from "../tokens/claims.ts";
import { type Exchange, type Subject, saveExchangedToken } from "./exchange-store.ts";
import type { ActingParty } from "./exchange-token.ts";
import type { ExchangeRequest } from "./read-exchange-request.ts";

/** RFC 8693 §2.2.1. There is never a refresh token (S94). */
type ExchangeAnswer = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  id_token?: string;
  issued_token_type: string;
};

type Decided = {
  exchange: Exchange & { orgId: string };
  member: Subject;
  scopes: string[];
  act: ActingParty | undefined;
  keyThumbprint: string | undefined;
  request: ExchangeRequest;
  from: RequestOrigin;
};

export async function issueExchangedToken(ctx: KoaContextWithOIDC, decided: Decided): Promise<ExchangeAnswer> {
  const { exchange, member, scopes, act, keyThumbprint, request, from } = decided;
  const { provider, client } = ctx.oidc;
  if (!client) throw new Error("the engine calls a grant type's handler with a client");
  // The app's row may contain more seconds than are allowed (S97).
  const expiresIn = Math.min(exchange.tokenSeconds ?? ACCESS_TOKEN_SECONDS, ACCESS_TOKEN_MAX_SECONDS);
  const scope = scopes.join(" ");
  const grantId = newId();
  requestRows().accounts.set(member.id, member);
  const account = await findAccount(ctx, member.id);
  if (account) ctx.oidc.entity("Account", account);

  const token = new provider.AccessToken({
    client,
    accountId: member.id,
    grantId,
    gty: TOKEN_EXCHANGE_GRANT,
    scope,
    expiresIn,
    expiresWithSession: false,
    ...(request.targets.length > 0 && { aud: apiAudience() }),
    ...(keyThumbprint && { jkt: keyThumbprint }),
  });
  ctx.oidc.entity("AccessToken", token);
  const data = { subject: member.email, scopes, expiresIn, ...(act && { act }) };
  const accessToken = await saveExchangedToken(token, { orgId: exchange.orgId, grantId, act, data, from });
  const idToken = scopes.includes("openid") ? await issueIdToken(ctx, member, scope) : undefined;
  return {
    access_token: accessToken,
    token_type: keyThumbprint ? "DPoP" : "bearer",
    expires_in: expiresIn,
    scope,
    ...(idToken && { id_token: idToken }),
    issued_token_type: ACCESS_TOKEN_TYPE,
  };
}

/** Nobody signed in, so there is no `auth_time`, `amr` or `nonce` (S94). */
async function issueIdToken(ctx: KoaContextWithOIDC, member: Subject, scope: string): Promise<string> {
  const token = new ctx.oidc.provider.IdToken(personClaims(member), { ctx });
  Object.assign(token, { scope });
  return token.issue({ use: "idtoken" });
}
