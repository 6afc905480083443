import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import { operatorCommand } from "#core/access/actor.ts";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { startSiteSession } from "#core/accounts/sessions/start-site-session.ts";
import { userWithPassword } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { stopListening } from "#core/notifications.ts";
import { createApp, type NewApp } from "../apps/create-app.ts";
import { finishLogin } from "../authorization/finish-login.ts";
import { readInteraction } from "../authorization/interaction.ts";
import { readConsentRequest } from "../consents/consent-request.ts";
import { denyConsent, grantConsent } from "../consents/grant-consent.ts";
import { handleOidc } from "../handler.ts";
import { Browser } from "./browser.ts";

export type World = Awaited<ReturnType<typeof startWorld>>;
export type AnyWorld = ReturnType<typeof worldAt>;

export const REDIRECT_URI = "https://app.example.test/callback";

export type Answer = { decision?: "allow" | "deny"; scopes?: string[]; orgIds?: string[]; isAllOrgs?: boolean };

export type TestApp = { id: string; clientId: string; secret: string | undefined };
export type TestUser = { id: string; username: string; email: string };

/** @param listener for tests of `server/` and `api/`, which need more than the protocol */
export async function startWorld(listener?: RequestListener) {
  let address = "127.0.0.1";
  const server = createServer(listener ?? ((req, res) => void handleOidc(req, res, address)));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    ...worldAt(origin),
    sendFrom: (from: string) => {
      address = from;
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await stopListening();
    },
  };
}

export function worldAt(origin: string) {
  provideSettings({ ORIGIN: origin });

  async function user(username: string): Promise<TestUser> {
    const email = `${username}@example.test`;
    const { id } = await userWithPassword(
      { username, email, password: "a long enough passphrase", fullName: username },
      noOrigin,
    );
    return { id, username, email };
  }

  async function organization(name: string, members: Record<string, string>): Promise<string> {
    const id = newId();
    await db().organization.create({ data: { id, name, fullName: name, plan: "enterprise" } });
    for (const [userId, role] of Object.entries(members)) await db().membership.create({ data: { orgId: id, userId, role } });
    return id;
  }

  async function app(owner: TestUser, input: Partial<NewApp> = {}): Promise<TestApp> {
    const defaults = {
      name: "Paper Lantern",
      redirectUris: [REDIRECT_URI],
      scopes: ["openid", "profile", "email", "read-repos"],
    };
    const made = await createApp(operatorCommand, { ...defaults, owner: { userId: owner.id }, ...input }, noOrigin);
    return { id: made.app.id, clientId: made.app.clientId, secret: made.secret };
  }

  async function signIn(browser: Browser, person: TestUser): Promise<SiteSession> {
    const { token } = await startSiteSession(person.id, noOrigin);
    browser.setCookie(siteSessionCookie().name, token);
    return (await findSiteSession(token)) as SiteSession;
  }

  function authorizeUrl(target: TestApp, parameters: Record<string, string | undefined>): string {
    const url = new URL(`${origin}/oauth/authorize`);
    const all = {
      client_id: target.clientId,
      redirect_uri: REDIRECT_URI,
      response_type: "code",
      scope: "openid profile",
      state: "a state",
      ...parameters,
    };
    for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  async function follow(browser: Browser, start: string, session?: SiteSession, answer: Answer = {}): Promise<URL | Response> {
    let url = start;
    for (let hops = 0; hops < 12; hops++) {
      const response = await browser.fetch(url);
      const location = response.headers.get("location");
      if (!location) return response;
      const next = new URL(location, origin);
      if (next.origin !== origin) return next;
      url = next.pathname.startsWith("/interaction/") ? await answerPage(browser, next, session, answer) : next.href;
      if (!url) return next;
    }
    throw new Error(`too many redirects, the last to ${url}`);
  }

  async function answerPage(browser: Browser, page: URL, session: SiteSession | undefined, answer: Answer): Promise<string> {
    const uid = page.pathname.split("/").at(-1) ?? "";
    const at = { uid, cookie: browser.cookieHeader(page.href) };
    const interaction = await readInteraction(at);
    if (answer.decision === "deny") return denyConsent(at, session, noOrigin);
    const login = await finishLogin(at, interaction, session);
    if (login.step === "sign-in") return "";
    if (login.step !== "none") return login.url;
    const request = await readConsentRequest(interaction.params, session as SiteSession);
    return grantConsent(
      at,
      session as SiteSession,
      {
        accountId: session?.user.id ?? "",
        fingerprint: request.fingerprint,
        scopes: answer.scopes ?? request.scopes.filter(({ isTicked }) => isTicked).map(({ scope }) => scope),
        orgIds: answer.orgIds ?? request.organizations.filter(({ isTicked }) => isTicked).map(({ id }) => id),
        isAllOrgs: answer.isAllOrgs ?? request.isAllOrgs,
      },
      noOrigin,
    );
  }

  const insecure = { [oauth.allowInsecureRequests]: true };

  async function discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(origin);
    return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  }

  const clientAuth = (target: TestApp) => (target.secret ? oauth.ClientSecretBasic(target.secret) : oauth.None());

  async function signInWith(
    target: TestApp,
    session: SiteSession,
    browser: Browser,
    parameters: Record<string, string> = {},
    answer: Answer = {},
  ) {
    const as = await discover();
    const client = { client_id: target.clientId };
    const verifier = oauth.generateRandomCodeVerifier();
    const challenge = { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
    const landed = await follow(browser, authorizeUrl(target, { ...challenge, ...parameters }), session, answer);
    if (!(landed instanceof URL)) throw new Error(`the service answered with a page: ${await landed.text()}`);
    const callback = oauth.validateAuthResponse(as, client, landed, parameters.state ?? "a state");
    const redirectUri = parameters.redirect_uri ?? REDIRECT_URI;
    const redeem = () =>
      oauth.authorizationCodeGrantRequest(as, client, clientAuth(target), callback, redirectUri, verifier, insecure);
    const response = await redeem();
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, { expectedNonce: parameters.nonce });
    return { as, client, tokens, redeem, code: callback.get("code") ?? "", verifier };
  }

  async function post(
    path: string,
    form: Record<string, string> | string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
    return fetch(`${origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
  }

  const userinfo = (accessToken: string): Promise<Response> =>
    fetch(`${origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });

  const basic = (id: string, secret: string): string =>
    `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;

  return {
    origin,
    user,
    organization,
    app,
    signIn,
    authorizeUrl,
    follow,
    discover,
    clientAuth,
    signInWith,
    post,
    userinfo,
    basic,
    insecure,
    browser: () => new Browser(origin),
  };
}
