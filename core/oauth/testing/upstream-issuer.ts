import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { type HttpsSite, startHttpsSite } from "#core/testing/https-site.ts";
import { Browser } from "./browser.ts";

export type UpstreamIssuer = HttpsSite & {
  client: { clientId: string; clientSecret: string };
  signIn(authorizationUrl: string, who: string, browser?: Browser): Promise<URL>;
};

export async function startUpstreamIssuer(redirectUris: string[]): Promise<UpstreamIssuer> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const site = await startHttpsSite();
  const client = { clientId: "keyhook-at-upstream", clientSecret: "a secret between the two of them" };
  let whoIsThere = "";
  const provider = new Provider(site.origin, {
    clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: redirectUris }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "upstream" }] },
    cookies: { keys: ["of no use anywhere else"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    pkce: { required: () => true },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@upstream.test`, email_verified: true, name: sub, preferred_username: sub }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId: oidc.client?.clientId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  site.answer(async (req, res) => {
    if (!req.url?.startsWith("/interaction/")) return callback(req, res);
    await provider.interactionFinished(req, res, { login: { accountId: whoIsThere } });
  });
  return {
    ...site,
    client,
    async signIn(authorizationUrl, who, browser = new Browser(site.origin)) {
      whoIsThere = who;
      let url = authorizationUrl;
      for (let hops = 0; hops < 8; hops++) {
        const response = await browser.fetch(url);
        const location = response.headers.get("location");
        if (!location) throw new Error(`the upstream issuer answered ${response.status}: ${await response.text()}`);
        const next = new URL(location, site.origin);
        if (next.origin !== site.origin) return next;
        url = next.href;
      }
      throw new Error("too many redirects");
    },
  };
}
