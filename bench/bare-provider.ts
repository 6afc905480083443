import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** The unmodified engine in memory, with the same protocol settings. Sends its origin to its parent, and ends with it. */
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

const server = createServer();
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const origin = `http://localhost:${(server.address() as AddressInfo).port}`;

const provider = new Provider(origin, {
  clients: [
    {
      client_id: "bench",
      client_secret: "a-secret-that-is-long-enough-for-the-benchmark",
      redirect_uris: ["https://app.example.test/callback"],
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code", TOKEN_EXCHANGE],
      scope: "openid profile email offline_access",
    },
    {
      client_id: "bench-device",
      token_endpoint_auth_method: "none",
      redirect_uris: [],
      response_types: [],
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      scope: "openid profile email offline_access",
    },
  ],
  scopes: ["openid", "profile", "email", "offline_access"],
  claims: { openid: ["sub"], profile: ["name", "preferred_username", "picture"], email: ["email", "email_verified"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["a cookie key for the benchmark"] },
  features: { introspection: { enabled: true }, revocation: { enabled: true }, deviceFlow: { enabled: true } },
  issueRefreshToken: async () => true,
  findAccount: async (_ctx, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, name: "Mara", preferred_username: "mara", email: "mara@example.test", email_verified: true }),
  }),
});
provider.registerGrantType(
  TOKEN_EXCHANGE,
  async (ctx) => {
    const { client, params } = ctx.oidc;
    if (!client) throw new Error("no client");
    const accountId = String(params?.subject_token);
    const scope = String(params?.scope);
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope(scope);
    const token = new provider.AccessToken({ client, accountId, scope, grantId: await grant.save(), gty: TOKEN_EXCHANGE });
    ctx.body = { access_token: await token.save(), token_type: "bearer", expires_in: token.expiration, scope };
  },
  ["subject_token", "subject_token_type", "scope"],
);

server.on("request", provider.callback());
process.on("disconnect", () => process.exit(0));
process.send?.({ origin });
