import { once } from "node:events";
import { type HttpsSite, startHttpsSite } from "#core/testing/https-site.ts";

export type GithubAccount = {
  id: unknown;
  login: string;
  name: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
};

type GithubStandIn = HttpsSite & {
  credentials: { clientId: string; clientSecret: string };
  agree(authorizationUrl: string, account: GithubAccount): URLSearchParams;
};

/** As documented by GitHub, a failed exchange returns 200 with `error`. */
export async function startGithubStandIn(): Promise<GithubStandIn> {
  const credentials = { clientId: "Iv1.8a61f9b3a7aba766", clientSecret: "a secret of GitHub's" };
  const codes = new Map<string, { account: GithubAccount; challenge: string; redirectUri: string }>();
  const tokens = new Map<string, GithubAccount>();
  const site = await startHttpsSite(async (req, res) => {
    const json = (body: unknown, status = 200) =>
      res.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
    if (req.url === "/login/oauth/access_token" && req.method === "POST" && req.headers.accept === "application/json") {
      let body = "";
      req.on("data", (chunk) => {
        body += chunk;
      });
      await once(req, "end");
      const form = new URLSearchParams(body);
      const code = form.get("code") ?? "";
      const asked = codes.get(code);
      codes.delete(code);
      const isRight =
        form.get("client_id") === credentials.clientId &&
        form.get("client_secret") === credentials.clientSecret &&
        form.get("redirect_uri") === asked?.redirectUri &&
        (await sha256(form.get("code_verifier") ?? "")) === asked?.challenge;
      if (!asked || !isRight) return json({ error: "bad_verification_code", error_description: "The code passed is incorrect." });
      const token = `gho_${code}`;
      tokens.set(token, asked.account);
      return json({ access_token: token, scope: "read:user,user:email", token_type: "bearer" });
    }
    const account = tokens.get((req.headers.authorization ?? "").replace(/^Bearer /, ""));
    // GitHub's API refuses requests without a user agent.
    if (!account || !req.headers["user-agent"]) return json({ message: "Bad credentials" }, 401);
    if (req.url === "/api/v3/user") return json({ id: account.id, login: account.login, name: account.name, email: null });
    if (req.url === "/api/v3/user/emails") return json(account.emails);
    return json({ message: "Not Found" }, 404);
  });
  return {
    ...site,
    credentials,
    agree(authorizationUrl, account) {
      const { origin, pathname, searchParams } = new URL(authorizationUrl);
      if (origin + pathname !== `${site.origin}/login/oauth/authorize`) throw new Error(authorizationUrl);
      const code = `c${codes.size}${Math.random()}`;
      const asked = { challenge: searchParams.get("code_challenge") ?? "", redirectUri: searchParams.get("redirect_uri") ?? "" };
      codes.set(code, { account, ...asked });
      return new URLSearchParams({ code, state: searchParams.get("state") ?? "" });
    },
  };
}

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64url");
}
