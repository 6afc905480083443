import { describeScope, type Scope, scopes } from "@keyhook/sdk";
import type { Rule } from "#core/access/rule.ts";
import { type Action, rules } from "#core/access/rules.ts";
import { env } from "#core/env.ts";
import { protocolRoutes } from "#core/oauth/protocol-routes.ts";

export function securitySchemes() {
  const { ORIGIN, BRAND_NAME, TOKEN_PREFIX } = env();
  const granted = Object.fromEntries(scopes.map((scope) => [scope, describeScope(scope).sentence]));
  const tokenUrl = ORIGIN + protocolRoutes.token;
  return {
    bearer: {
      type: "http",
      scheme: "bearer",
      description: `A personal access token (${ORIGIN}/settings/tokens) or an OAuth access token: \`Authorization: Bearer ${TOKEN_PREFIX}…\`.`,
    },
    dpop: {
      type: "http",
      scheme: "dpop",
      description: "An access token that is bound to a key (RFC 9449), with its proof in the header `DPoP`.",
    },
    oauth2: {
      type: "oauth2",
      description: `Signing in with ${BRAND_NAME}: authorization code with PKCE (RFC 7636). Devices use \`x-deviceAuthorizationUrl\` (RFC 8628).`,
      flows: {
        authorizationCode: {
          authorizationUrl: ORIGIN + protocolRoutes.authorization,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes: granted,
          "x-deviceAuthorizationUrl": ORIGIN + protocolRoutes.device_authorization,
        },
      },
    },
    clientBasic: {
      type: "http",
      scheme: "basic",
      description: "A client's ID and secret, each form-urlencoded (RFC 6749 §2.3.1). Only the OAuth endpoints accept them.",
    },
  };
}

/** Returns scopes, of which a token needs one. */
export function scopesFor(actions: readonly Action[]): Scope[] {
  const taken = actions.flatMap((action) => {
    const { token } = rules[action] as Rule;
    return typeof token === "object" ? Object.values(token).flat() : [];
  });
  return scopes.filter((scope) => taken.includes(scope));
}
