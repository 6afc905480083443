import * as oauth from "oauth4webapi";
import { newId } from "#core/ids.ts";
import type { NewApp } from "../apps/create-app.ts";
import { type Answer, type AnyWorld, REDIRECT_URI, type TestApp } from "./world.ts";

export type Tokens = { access_token: string; refresh_token: string; id_token: string; scope: string; expires_in: number };

export type SignIn = Awaited<ReturnType<typeof signIn>>;

export async function prepare(world: AnyWorld, app: Partial<NewApp> = {}) {
  const person = await world.user(`p-${newId()}`);
  const browser = world.browser();
  const session = await world.signIn(browser, person);
  return { world, person, browser, session, app: await world.app(person, app) };
}

export type Prepared = Awaited<ReturnType<typeof prepare>>;

export async function signIn(
  world: AnyWorld,
  app: Partial<NewApp> = {},
  parameters: Record<string, string> = {},
  answer: Answer = {},
) {
  const prepared = await prepare(world, app);
  const done = await world.signInWith(prepared.app, prepared.session, prepared.browser, parameters, answer);
  return { ...prepared, ...done, tokens: done.tokens as unknown as Tokens };
}

export async function authorize(
  { world, app, session, browser }: Prepared,
  parameters: Record<string, string | undefined> = {},
  answer: Answer = {},
) {
  const verifier = oauth.generateRandomCodeVerifier();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const url = world.authorizeUrl(app, { code_challenge, code_challenge_method: "S256", ...parameters });
  const landed = await world.follow(browser, url, session, answer);
  if (!(landed instanceof URL)) throw new Error(`the service answered with a page: ${await landed.text()}`);
  const code = landed.searchParams.get("code");
  if (!code) throw new Error(`no code: ${landed.search}`);
  return { code, verifier };
}

export function redemption({ code, verifier }: { code: string; verifier: string }, extra: Record<string, string> = {}) {
  return { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI, ...extra };
}

export function asApp(world: AnyWorld, app: TestApp, path: string, form: Record<string, string | undefined>): Promise<Response> {
  const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return app.secret
    ? world.post(path, Object.fromEntries(given), { authorization: world.basic(app.clientId, app.secret) })
    : world.post(path, Object.fromEntries([["client_id", app.clientId], ...given]));
}

export async function refresh({ world, app }: Prepared, refreshToken: string, extra: Record<string, string> = {}) {
  const response = await asApp(world, app, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...extra,
  });
  return { status: response.status, body: (await response.json()) as Tokens & { error?: string; error_description?: string } };
}
