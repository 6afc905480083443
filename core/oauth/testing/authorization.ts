import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { finishLogin } from "../authorization/finish-login.ts";
import { type InteractionCookies, readInteraction } from "../authorization/interaction.ts";
import { type ConsentRequest, readConsentRequest } from "../consents/consent-request.ts";
import { grantConsent } from "../consents/grant-consent.ts";
import type { ConsentAnswer } from "../consents/store-answer.ts";
import type { Prepared } from "./sign-in.ts";

export const PKCE = {
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};

export type Outcome = {
  status: number;
  headers: Headers;
  location: URL | undefined;
  answer: Record<string, string>;
  isQuestion: boolean;
  page: string;
};

type Parameters = Record<string, string | undefined> | [string, string][] | string;

export async function ask(
  { world, app, browser }: Pick<Prepared, "world" | "app" | "browser">,
  parameters: Parameters = {},
  method: "GET" | "POST" = "GET",
): Promise<Outcome> {
  const url = new URL(
    typeof parameters === "string" || Array.isArray(parameters)
      ? `${world.origin}/oauth/authorize?${new URLSearchParams(parameters)}`
      : world.authorizeUrl(app, { ...PKCE, ...parameters }),
  );
  if (typeof parameters === "string") url.search = parameters;
  const response =
    method === "GET"
      ? await browser.fetch(url.href)
      : await browser.fetch(url.pathname, { method, body: new URLSearchParams(url.search) });
  return outcomeOf(world.origin, response);
}

async function outcomeOf(origin: string, response: Response): Promise<Outcome> {
  const header = response.headers.get("location");
  const location = header === null ? undefined : new URL(header, origin);
  const isOurs = location?.origin === origin;
  const read = location && !isOurs ? [...location.searchParams, ...new URLSearchParams(location.hash.slice(1))] : [];
  return {
    status: response.status,
    headers: response.headers,
    location,
    answer: Object.fromEntries(read),
    isQuestion: isOurs && (location?.pathname.startsWith("/interaction/") ?? false),
    page: await response.text(),
  };
}

export type OpenQuestion = {
  at: InteractionCookies;
  request: ConsentRequest;
  allow(answer?: Partial<ConsentAnswer>): Promise<string>;
};

export async function openQuestion(prepared: Prepared, parameters: Parameters = {}): Promise<OpenQuestion> {
  const outcome = await ask(prepared, parameters);
  if (!outcome.isQuestion) throw new Error(`nothing was asked: ${outcome.status} ${outcome.location ?? outcome.page}`);
  return openInteraction(prepared, outcome);
}

export async function openInteraction({ browser, session }: Prepared, { location }: Outcome): Promise<OpenQuestion> {
  const uid = location?.pathname.split("/").at(-1) ?? "";
  const at = { uid, cookie: browser.cookieHeader(location?.href ?? "") };
  const request = await readConsentRequest((await readInteraction(at)).params, session);
  const shown: ConsentAnswer = {
    scopes: request.scopes.filter(({ isTicked }) => isTicked).map(({ scope }) => scope),
    orgIds: request.organizations.filter(({ isTicked }) => isTicked).map(({ id }) => id),
    isAllOrgs: request.isAllOrgs,
    accountId: session.user.id,
    fingerprint: request.fingerprint,
  };
  return { at, request, allow: (answer = {}) => grantConsent(at, session, { ...shown, ...answer }, noOrigin) };
}

export async function resume({ world, browser }: Pick<Prepared, "world" | "browser">, url: string): Promise<Outcome> {
  return outcomeOf(world.origin, await browser.fetch(url));
}

export async function loginStep({ browser }: Pick<Prepared, "browser">, { location }: Outcome, session?: SiteSession) {
  const at = { uid: location?.pathname.split("/").at(-1) ?? "", cookie: browser.cookieHeader(location?.href ?? "") };
  return finishLogin(at, await readInteraction(at), session);
}

export function claimsOf(idToken: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString());
}
