import { setTimeout as sleep } from "node:timers/promises";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { assertMayExchange } from "./assert-may-exchange.ts";
import { ExchangeRefusal } from "./exchange-refusal.ts";
import { findActingParty } from "./find-acting-party.ts";
import { type Exchange, findExchange } from "./find-exchange.ts";
import { findMember } from "./find-member.ts";
import { grantedScopes } from "./granted-scopes.ts";
import { issueExchangedToken } from "./issue-exchanged-token.ts";
import { provenKey } from "./proven-key.ts";
import { type ExchangeParameters, readExchangeRequest, readScopes, subjectAddress } from "./read-exchange-request.ts";
import { recordRefusal } from "./save-exchange.ts";

/**
 * Token exchange (RFC 8693, docs/specification/organizations-and-tokens.md#token-exchange): an app that is bound to an organization gets an
 * access token for a member, named by their e-mail address. The engine has already authenticated the client. It takes two database round
 * trips: the first reads all that decides, the last stores all results.
 */
export async function exchangeToken(ctx: KoaContextWithOIDC): Promise<void> {
  const startedAt = performance.now();
  const clientId = ctx.oidc.client?.clientId ?? "";
  const parameters = (ctx.oidc.params ?? {}) as ExchangeParameters;
  const exchange = await findExchange(clientId, subjectAddress(parameters));
  try {
    assertMayExchange(ctx, exchange);
    const request = readExchangeRequest(parameters);
    const act = request.actorToken === undefined ? undefined : await findActingParty(request.actorToken, clientId);
    const member = findMember(exchange);
    const scopes = grantedScopes(request, exchange);
    const keyThumbprint = await provenKey(ctx, clientId);
    const from = originOf(ctx);
    ctx.body = await issueExchangedToken(ctx, { exchange, member, scopes, act, keyThumbprint, request, from });
  } catch (error) {
    if (!(error instanceof ExchangeRefusal)) throw error;
    ctx.state.isExplained = true;
    await recordRefused(ctx, clientId, parameters, exchange, error);
    // Longer than any lookup takes, so the time does not reveal whether the user exists (S91).
    if (error.error === "invalid_grant") await sleep(Math.max(1, REFUSAL_MS - (performance.now() - startedAt)));
    throw error;
  }
}

const REFUSAL_MS = 25;
// RFC 5321 §4.5.3.1.3; anything longer is not an address.
const SUBJECT_SHOWN_CHARACTERS = 254;

/** In the log of the organization to which the app is bound; for an unbound app, nobody reads it (S96). */
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
    // Non-members are not named to the organization: that they have an account here does not concern it.
    subjectId: exchange.subject?.role ? exchange.subject.id : null,
    data: {
      subject: (parameters.subject_token ?? "").slice(0, SUBJECT_SHOWN_CHARACTERS).toWellFormed(),
      scopes: readScopes(parameters)?.slice(0, 50) ?? [],
      error,
      reason,
    },
    from: originOf(ctx),
  };
  // All of rule 1 is about the app itself (assert-may-exchange.ts).
  await recordRefusal(event, { mayExchange: error !== "invalid_client" });
}

export function originOf(ctx: KoaContextWithOIDC): RequestOrigin {
  return { ip: ctx.ip || null, userAgent: ctx.get("user-agent") || null };
}
