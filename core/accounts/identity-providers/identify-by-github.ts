import type { AuthorizationServer } from "oauth4webapi";
import * as oauth from "oauth4webapi";
import { fetchFrom, isLocalInstallation } from "./fetch-from-provider.ts";
import { clientSecretOf, type IdentityProvider, redirectUriOf } from "./identity-provider.ts";
import { codeVerifierOf, type Flow } from "./sign-in-flow.ts";
import { shownText, UnacceptableResponse, type UpstreamIdentity } from "./upstream-identity.ts";

/** Only the code and its verifier bind response and request. Users are identified by number, because logins change hands. */
export async function identifyByGithub(
  provider: IdentityProvider,
  parameters: URLSearchParams,
  flow: Flow,
): Promise<UpstreamIdentity> {
  const { metadata, user, emails } = githubEndpoints(provider.issuer);
  const client: oauth.Client = { client_id: provider.clientId };
  const ask = fetchFrom(provider);
  const callback = oauth.validateAuthResponse(metadata, client, parameters, flow.state);
  const response = await oauth.authorizationCodeGrantRequest(
    metadata,
    client,
    oauth.ClientSecretPost(clientSecretOf(provider) ?? ""),
    callback,
    redirectUriOf(provider.slug),
    codeVerifierOf(flow),
    { [oauth.customFetch]: ask, [oauth.allowInsecureRequests]: isLocalInstallation() },
  );
  const { access_token } = await oauth.processAuthorizationCodeResponse(metadata, client, response);

  const [account, addresses] = await Promise.all([read(user), read(emails)]);
  const { id, login, name } = account as { id?: unknown; login?: unknown; name?: unknown };
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id <= 0)
    throw new UnacceptableResponse("GitHub returned no account");
  const shownLogin = shownText(login);
  return {
    subject: String(id),
    displayName: shownLogin ?? String(id),
    email: primaryVerified(addresses),
    username: shownLogin,
    fullName: shownText(name),
    authenticatedAt: null,
  };

  async function read(url: string): Promise<unknown> {
    const answer = await ask(url, {
      headers: {
        authorization: `Bearer ${access_token}`,
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
      },
    });
    if (answer.status !== 200) throw new UnacceptableResponse(`GitHub's API responded with status ${answer.status}`);
    return answer.json().catch(() => {
      throw new UnacceptableResponse("GitHub's API did not respond with JSON");
    });
  }
}

type Address = { email?: unknown; primary?: unknown; verified?: unknown };

function primaryVerified(addresses: unknown): string | null {
  if (!Array.isArray(addresses)) return null;
  const found = (addresses as (Address | null)[]).find((one) => one?.primary === true && one.verified === true);
  return typeof found?.email === "string" ? found.email : null;
}

export function githubEndpoints(issuer: string) {
  const base = issuer.replace(/\/$/, "");
  const api = base === "https://github.com" ? "https://api.github.com" : `${base}/api/v3`;
  return {
    metadata: {
      issuer: base,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
    } satisfies AuthorizationServer,
    user: `${api}/user`,
    emails: `${api}/user/emails`,
  };
}
