import { apiAudience } from "../resources/resource-servers.ts";
import { ExchangeRefusal } from "./exchange-refusal.ts";
import type { Exchange } from "./find-exchange.ts";
import type { ExchangeRequest } from "./read-exchange-request.ts";

/**
 * The token's scopes: those requested, each of which the app must have, or all that it has (S93). `offline_access` is not one of them:
 * there is no refresh token (S94).
 * @throws ExchangeRefusal `invalid_scope`; `invalid_target` for a token for another resource: the organization's power over its members'
 * tokens ends at our own API (rule 4 of docs/specification/organizations-and-tokens.md#token-exchange; RFC 8693 §2.2.2).
 */
export function grantedScopes({ targets, scopes }: ExchangeRequest, exchange: Exchange): string[] {
  if (targets.some((target) => target !== apiAudience())) {
    throw new ExchangeRefusal("unknown_target", "invalid_target", `exchanged tokens are for ${apiAudience()} only`);
  }
  const unknown = scopes?.filter((scope) => !exchange.scopes.includes(scope)) ?? [];
  if (unknown.length === 0) return scopes ? exchange.scopes.filter((scope) => scopes.includes(scope)) : exchange.scopes;
  const named = unknown.slice(0, 3).join(" ").slice(0, 100);
  const description = `not configured on the app: ${named}; the app may ask for ${exchange.scopes.join(" ")}`;
  throw new ExchangeRefusal("invalid_scope", "invalid_scope", description);
}
