import type { Context } from "hono";
import { type Actor, anonymous, type Publisher, type TokenHolder } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { type Bearer, type CiJob, findBearer, findCiJob } from "#core/oauth/tokens/find-bearer.ts";
import { repeatableLookup, requireBearer, requireHolder } from "./bearer.ts";

export async function actorOf(c: Context): Promise<Actor> {
  return c.req.header("Authorization") ? (await requireToken(c)).actor : anonymous;
}

/** A job's token acts for the job's repository. */
export async function requireToken(c: Context): Promise<{ actor: TokenHolder | Publisher }> {
  const holder = await requireHolder(c);
  return { actor: holder.kind === "job" ? jobActor(holder) : tokenActor(holder) };
}

export function actorLookup(c: Context): () => Promise<TokenHolder | Publisher> {
  return repeatableLookup(c, async () => (await requireToken(c)).actor);
}

export async function requirePersonsToken(c: Context): Promise<{ actor: TokenHolder; account: Bearer["account"] }> {
  const bearer = await requireBearer(c);
  return { actor: tokenActor(bearer), account: bearer.account };
}

export async function actorOfToken(token: string): Promise<TokenHolder | Publisher> {
  const job = await findCiJob(token);
  if (job) return known(jobActor(job));
  const bearer = await findBearer(token, { scheme: "bearer" });
  if (!bearer) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
  return known(tokenActor(bearer));
}

function known<T extends Actor>(actor: T): T {
  countAgainst(actor);
  return actor;
}

function jobActor({ publisherId, trustedById, repo, description }: CiJob): Publisher {
  return { kind: "publisher", publisherId, trustedById, repoId: repo.id, description };
}

function tokenActor({
  account,
  kind,
  auditToken,
  scopes,
  clientId,
  boundOrgId,
  isReadOnly,
  isFirstParty,
  authenticatedAt,
}: Bearer): TokenHolder {
  return {
    kind: "token",
    userId: account.id,
    tokenId: auditToken.id,
    scopes,
    orgIds: kind === "personal" ? "all" : account.organizations.map(({ id }) => id),
    clientId: clientId ?? null,
    ...(boundOrgId && { boundOrgId }),
    ...(isReadOnly && { isReadOnly }),
    ...(isFirstParty && { isFirstParty }),
    ...(authenticatedAt && { authenticatedAt }),
    standings: new Map(account.organizations.map(({ id, role, restrictions }) => [id, { role, restrictions }])),
  };
}
