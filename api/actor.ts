import type { Context } from "hono";
import { type Actor, anonymous, type TokenHolder } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { type Bearer, findBearer } from "#core/oauth/find-bearer.ts";
import { requireBearer } from "./bearer.ts";

/** Who a request of the API comes from: whoever its token stands for, or nobody in particular. */
export async function actorOf(c: Context): Promise<Actor> {
  if (!c.req.header("Authorization")) return anonymous;
  return tokenActor(await requireBearer(c));
}

/** The same for what nobody can do without a token, with the account that it stands for. */
export async function requireToken(c: Context): Promise<{ actor: TokenHolder; account: Bearer["account"] }> {
  const bearer = await requireBearer(c);
  return { actor: tokenActor(bearer), account: bearer.account };
}

/** Whoever a bare token stands for, where it did not come as a bearer token. @throws ServiceError `unauthorized` */
export async function actorOfToken(token: string): Promise<TokenHolder> {
  const bearer = await findBearer(token, { scheme: "bearer" });
  if (!bearer) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
  return tokenActor(bearer);
}

function tokenActor({ account, kind, scopes, clientId, boundOrgId }: Bearer): TokenHolder {
  return {
    kind: "token",
    userId: account.id,
    scopes,
    // The organizations that are granted and still the person's own; a token of their own making has no such bounds.
    orgIds: kind === "personal" ? "all" : account.organizations.map(({ id }) => id),
    clientId: clientId ?? null,
    ...(boundOrgId && { boundOrgId }),
    standings: new Map(account.organizations.map(({ id, role, restrictions }) => [id, { role, restrictions }])),
  };
}
