import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

/** Somebody else's OpenID provider, on this machine, with a page that asks who is there. */
export type RunningIssuer = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  stop(): Promise<void>;
};

/** @param redirectUri the address of the service at which answers are taken */
export async function runUpstreamIssuer(redirectUri: string): Promise<RunningIssuer> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const client = { clientId: "service-under-test", clientSecret: "a secret of the test's" };
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "upstream" }] },
    cookies: { keys: ["of no use anywhere else"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        email: `${sub}@upstream.test`,
        email_verified: true,
        name: `Upstream ${sub}`,
        preferred_username: sub,
      }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId: oidc.client?.clientId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  server.on("request", async (req, res) => {
    if (!req.url?.startsWith("/interaction/")) return callback(req, res);
    if (req.method === "GET") return askWho(res);
    let body = "";
    for await (const chunk of req) body += chunk;
    const form = new URLSearchParams(body);
    const result = form.has("cancel")
      ? { error: "access_denied", error_description: "They said no." }
      : { login: { accountId: form.get("who") ?? "" } };
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  });
  return {
    issuer,
    ...client,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function askWho(res: ServerResponse): void {
  res.setHeader("Content-Type", "text/html").end(`<!doctype html><title>Upstream</title><form method="post">
    <label>Who are you? <input name="who"></label> <button>Go on</button> <button name="cancel" value="1">Say no</button></form>`);
}
