import type { AuthorizationServer } from "oauth4webapi";

/** GitHub's endpoints; on a GitHub Enterprise Server the API is below `/api/v3`. */
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
