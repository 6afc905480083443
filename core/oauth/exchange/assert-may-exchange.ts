import type { KoaContextWithOIDC } from "oidc-provider";
import { unauthorizedClient } from "./exchange-refusal.ts";
import type { Exchange } from "./find-exchange.ts";

/**
 * Rule 1 of docs/specification/organizations-and-tokens.md#token-exchange: the client authenticates by HTTP Basic, is bound to an
 * organization, and has the privilege and the plan (S89, S90). Each refusal says what is missing: its reader has proved to be the app.
 * @throws ExchangeRefusal `invalid_client`
 */
export function assertMayExchange(
  ctx: KoaContextWithOIDC,
  exchange: Exchange | undefined,
): asserts exchange is Exchange & { orgId: string } {
  const isBasic = /^basic /i.test(ctx.get("authorization")) && ctx.oidc.client?.clientAuthMethod === "client_secret_basic";
  if (!isBasic) {
    throw unauthorizedClient("not_authenticated_by_basic", "token exchange takes the client id and secret by HTTP Basic only");
  }
  if (!exchange?.orgId) throw unauthorizedClient("not_bound", NOT_BOUND);
  if (!exchange.isPrivileged) {
    throw unauthorizedClient("no_privilege", "the app lacks the privilege token-exchange, which the operator gives on request");
  }
  if (!exchange.hasPlan) throw unauthorizedClient("no_plan", "token exchange needs the Enterprise plan of the organization");
  if (exchange.isBlockedByOrganization) {
    throw unauthorizedClient("blocked_by_organization", "the organization has blocked the app");
  }
}

export const NOT_BOUND = "the app is not bound to an organization, which token exchange needs";
