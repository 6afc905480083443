import { TOKEN_EXCHANGE_GRANT } from "#core/oauth/grant-types.ts";
import type { Prepared } from "./load.ts";
import { authorizeUrl, REDIRECT_URI, type Target, verifier } from "./targets.ts";

const USER_EMAIL = "urn:huggingface:token-type:user-email";
/** Requests use many tokens, because requests with the same token could share lookups. */
const TOKENS = 50;

export const form = { "content-type": "application/x-www-form-urlencoded" };
const basic = ({ clientId, secret }: { clientId: string; secret: string }) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`,
});

export const tokenRequest = (target: Target, body: Record<string, string>): Prepared => ({
  method: "POST",
  path: target.paths.token,
  headers: { ...form, ...basic(target) },
  body: new URLSearchParams(body).toString(),
});

export function codeRequest(target: Target): Prepared {
  const url = authorizeUrl(target);
  return { method: "GET", path: url.pathname + url.search, headers: { cookie: target.browser.cookieHeader(url.href) } };
}

async function makeCode(target: Target): Promise<string> {
  const response = await target.browser.fetch(authorizeUrl(target).href);
  const location = new URL(response.headers.get("location") ?? "", target.origin);
  const code = location.searchParams.get("code");
  if (!location.href.startsWith(REDIRECT_URI) || !code) throw new Error(`no code: ${response.status} ${location.href}`);
  return code;
}

const redeem = (target: Target, code: string): Prepared =>
  tokenRequest(target, { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: verifier });

async function times<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(await make());
  return made;
}

export const codeExchanges = (target: Target, count: number): Promise<Prepared[]> =>
  times(count, async () => redeem(target, await makeCode(target)));

type Tokens = { access_token: string; refresh_token: string };

async function makeTokens(target: Target): Promise<Tokens> {
  const { path, headers, body } = redeem(target, await makeCode(target));
  const response = await fetch(new URL(path, target.origin), { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Tokens;
}

export const refreshes = (target: Target, count: number): Promise<Prepared[]> =>
  times(count, async () => {
    const { refresh_token } = await makeTokens(target);
    return tokenRequest(target, { grant_type: "refresh_token", refresh_token });
  });

const accessTokens = (target: Target): Promise<string[]> => times(TOKENS, async () => (await makeTokens(target)).access_token);

export async function bearerRequests(target: Target, path: string): Promise<Prepared[]> {
  const tokens = await accessTokens(target);
  return tokens.map((token) => ({ method: "GET", path, headers: { authorization: `Bearer ${token}` } }));
}

export async function introspections(target: Target): Promise<Prepared[]> {
  const headers = { ...form, ...basic(target) };
  const tokens = await accessTokens(target);
  return tokens.map((token) => {
    return { method: "POST", path: target.paths.introspect, headers, body: new URLSearchParams({ token }).toString() };
  });
}

export function tokenExchanges({ exchange, paths }: Target, scope: string): Prepared[] {
  const headers = { ...form, ...basic(exchange) };
  return exchange.emails.map((subject_token) => {
    const fields = { grant_type: TOKEN_EXCHANGE_GRANT, subject_token, subject_token_type: USER_EMAIL, scope };
    return { method: "POST", path: paths.token, headers, body: new URLSearchParams(fields).toString() };
  });
}
