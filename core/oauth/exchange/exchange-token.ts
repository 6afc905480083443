import { setTimeout as sleep } from "node:timers/promises";
import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { apiAudience } from "../resources/resource-servers.ts";
import { consumeKeyProof, InvalidDpopProof } from "../tokens/dpop-proof.ts";
import { findBearer } from "../tokens/find-bearer.ts";
import { type Exchange, findExchange, recordRefusal, type Subject } from "./exchange-store.ts";
import { issueExchangedToken } from "./issue-exchanged-token.ts";
import {
  EXCHANGE_PARAMETERS,
  type ExchangeParameters,
  ExchangeRefusal,
  type ExchangeRequest,
  invalidRequest,
  invalidSubject,
  REPEATABLE_PARAMETERS,
  readExchangeRequest,
  readScopes,
  subjectAddress,
  unauthorizedClient,
} from "./read-exchange-request.ts";

/** The engine then lists the grant type in its metadata (RFC 8414). */
export function registerTokenExchange(provider: Provider): void {
  provider.registerGrantType(TOKEN_EXCHANGE_GRANT, exchangeToken, [...EXCHANGE_PARAMETERS], [...REPEATABLE_PARAMETERS]);
}

/** RFC 8693, docs/specification/organizations-and-tokens.md#token-exchange. */
async function exchangeToken(ctx: KoaContextWithOIDC): Promise<void> {
  const startedAt = performance.now();
  const clientId = ctx.oidc.client?.clientId ?? "";
  const parameters = (ctx.oidc.params ?? {}) as ExchangeParameters;
  const exchange = await findExchange(clientId, subjectAddress(parameters));
  try {
    assertMayExchange(ctx, exchange);
    const request = readExchangeRequest(parameters);
    const act = request.actorToken === undefined ? undefined : await findActingParty(request.actorToken, clientId);
    const member = requireMember(exchange);
    const scopes = grantedScopes(request, exchange);
    const keyThumbprint = await provenKey(ctx, clientId);
    const from = originOf(ctx);
    ctx.body = await issueExchangedToken(ctx, { exchange, member, scopes, act, keyThumbprint, request, from });
  } catch (error) {
    if (!(error instanceof ExchangeRefusal)) throw error;
    ctx.state.isExplained = true;
    await recordRefused(ctx, clientId, parameters, exchange, error);
    // Waits longer than any lookup takes, so the time does not reveal whether the user exists (S91).
    if (error.error === "invalid_grant") await sleep(Math.max(1, REFUSAL_MS - (performance.now() - startedAt)));
    throw error;
  }
}

const REFUSAL_MS = 25;
// RFC 5321 §4.5.3.1.3.
const SUBJECT_SHOWN_CHARACTERS = 254;

/** Refusals of an unbound app are not recorded: there would be no organization to read them (S96). */
async function recordRefused(
  ctx: KoaContextWithOIDC,
  clientId: string,
  parameters: ExchangeParameters,
  exchange: Exchange | undefined,
  { error, reason }: ExchangeRefusal,
): Promise<void> {
  if (!exchange?.orgId) return;
  const event = {
    orgId: exchange.orgId,
    clientId,
    // The organization must not learn whether a non-member has an account here.
    subjectId: exchange.subject?.role ? exchange.subject.id : null,
    data: {
      subject: (parameters.subject_token ?? "").slice(0, SUBJECT_SHOWN_CHARACTERS).toWellFormed(),
      scopes: readScopes(parameters)?.slice(0, 50) ?? [],
      error,
      reason,
    },
    from: originOf(ctx),
  };
  // `invalid_client` means that the app may not exchange (`assertMayExchange`).
  await recordRefusal(event, { mayExchange: error !== "invalid_client" });
}

function originOf(ctx: KoaContextWithOIDC): RequestOrigin {
  return { ip: ctx.ip || null, userAgent: ctx.get("user-agent") || null };
}

/** Rule 1 of docs/specification/organizations-and-tokens.md#token-exchange (S89, S90). */
function assertMayExchange(
  ctx: KoaContextWithOIDC,
  exchange: Exchange | undefined,
): asserts exchange is Exchange & { orgId: string } {
  const isBasic = /^basic /i.test(ctx.get("authorization")) && ctx.oidc.client?.clientAuthMethod === "client_secret_basic";
  if (!isBasic) {
    throw unauthorizedClient("not_authenticated_by_basic", "token exchange accepts the client ID and secret by HTTP Basic only");
  }
  if (!exchange?.orgId) throw unauthorizedClient("not_bound", NOT_BOUND);
  if (!exchange.isPrivileged) {
    throw unauthorizedClient("no_privilege", "the app lacks the token-exchange privilege, which the operator grants on request");
  }
  if (!exchange.hasPlan)
    throw unauthorizedClient("no_plan", "token exchange requires the organization to have the Enterprise or Plus plan");
  if (exchange.isBlockedByOrganization) {
    throw unauthorizedClient("blocked_by_organization", "the organization has blocked the app");
  }
}

export const NOT_BOUND = "the app is not bound to an organization, which token exchange requires";

/**
 * Rule 2 of docs/specification/organizations-and-tokens.md#token-exchange (S91). A restricted member gets no token, because it
 * would start to work when the restriction ends.
 */
function requireMember({ subject }: Exchange): Subject {
  if (!subject?.role) throw invalidSubject("not_a_member");
  if (!subject.isEmailVerified) throw invalidSubject("email_not_verified");
  if (subject.isDisabled) throw invalidSubject("user_disabled");
  if (subject.restrictions?.length) throw invalidSubject("requirements_not_met");
  return subject;
}

/**
 * See S93, S94.
 * @throws ExchangeRefusal `invalid_target` for another resource (RFC 8693 §2.2.2)
 */
function grantedScopes({ targets, scopes }: ExchangeRequest, exchange: Exchange): string[] {
  if (targets.some((target) => target !== apiAudience())) {
    throw new ExchangeRefusal("unknown_target", "invalid_target", `exchanged tokens can only be issued for ${apiAudience()}`);
  }
  const unknown = scopes?.filter((scope) => !exchange.scopes.includes(scope)) ?? [];
  if (unknown.length === 0) return scopes ? exchange.scopes.filter((scope) => scopes.includes(scope)) : exchange.scopes;
  const named = unknown.slice(0, 3).join(" ").slice(0, 100);
  const description = `not configured on the app: ${named}; the app may request ${exchange.scopes.join(" ")}`;
  throw new ExchangeRefusal("invalid_scope", "invalid_scope", description);
}

/**
 * RFC 9449 §5.
 * @returns undefined for a plain token
 * @throws ExchangeRefusal for an invalid proof, and for a missing proof if the app requires one (S113)
 */
async function provenKey(ctx: KoaContextWithOIDC, clientId: string): Promise<string | undefined> {
  const refusal = (description: string) => new ExchangeRefusal("invalid_dpop_proof", "invalid_dpop_proof", description);
  const proof = ctx.get("DPoP");
  if (!proof) {
    if (ctx.oidc.client?.dpopBoundAccessTokens) throw refusal("this app can only get tokens with a DPoP proof");
    return undefined;
  }
  try {
    return await consumeKeyProof({ proof, method: "POST", path: protocolRoutes.token }, clientId);
  } catch (error) {
    if (error instanceof InvalidDpopProof) throw refusal(error.message);
    throw error;
  }
}

/** RFC 8693 §4.1: the previous acting party is nested in the current one. */
export type ActingParty = { sub: string; client_id?: string; act?: ActingParty };

/** A longer chain is a loop, and every response would repeat it. */
const ACTING_PARTIES_MAX = 5;

/**
 * A token that is bound to a key needs a proof (RFC 9449), and an actor token has none.
 * @throws ExchangeRefusal `invalid_request` (RFC 8693 §2.2.2)
 */
async function findActingParty(actorToken: string, clientId: string): Promise<ActingParty> {
  const bearer = await findBearer(actorToken, { scheme: "bearer" });
  if (!bearer || (bearer.kind === "oauth" && bearer.clientId !== clientId)) {
    throw invalidRequest("actor_token is not a valid access token of this app or of a user", "invalid_actor");
  }
  const { account, act } = bearer;
  const party = { sub: account.id, ...(bearer.kind === "oauth" && { client_id: clientId }), ...(act && { act }) };
  if (partiesOf(party) > ACTING_PARTIES_MAX) {
    throw invalidRequest(`actor_token has more than ${ACTING_PARTIES_MAX} acting parties in a row`, "invalid_actor");
  }
  return party;
}

function partiesOf({ act }: ActingParty): number {
  return 1 + (act ? partiesOf(act) : 0);
}
