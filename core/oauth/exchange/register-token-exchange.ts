import type Provider from "oidc-provider";
import { exchangeToken } from "./exchange-token.ts";
import { EXCHANGE_PARAMETERS, REPEATABLE_PARAMETERS } from "./read-exchange-request.ts";
import { TOKEN_EXCHANGE_GRANT } from "./token-exchange.ts";

/** Makes token exchange a grant type of the engine, which then lists it in its metadata (RFC 8414). */
export function registerTokenExchange(provider: Provider): void {
  provider.registerGrantType(TOKEN_EXCHANGE_GRANT, exchangeToken, [...EXCHANGE_PARAMETERS], [...REPEATABLE_PARAMETERS]);
}
