import { type APIRequestContext, type BrowserContext, expect, type Page } from "@playwright/test";
import type { Person } from "./sign-in-page.ts";

type Account = Pick<Person, "username" | "password">;

/** Each worker reads the form once, because it is the same for everybody. */
type SignInForm = { url: string; fields: Record<string, string> };
let form: Promise<SignInForm> | undefined;

/** Sends the sign-in form without showing the page, which other stories cover. */
export async function enter({ request }: Pick<Page, "request">, { username, password }: Account): Promise<void> {
  form ??= readForm(request);
  const { url, fields } = await form;
  const answer = await request.post(url, {
    multipart: { ...fields, login: username, password },
    headers: { origin: new URL(url).origin },
    maxRedirects: 0,
  });
  expect([answer.status(), answer.headers().location], `sign-in of ${username}`).toEqual([303, "/"]);
}

async function readForm(request: APIRequestContext): Promise<SignInForm> {
  const shown = await request.get("/login?switch=1");
  expect(shown.status(), "the sign-in page").toBe(200);
  const [html = ""] = /<form.*?<\/form>/s.exec(await shown.text()) ?? [];
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g)];
  const fields = hidden.map(([, name = "", value = ""]) => [name, value.replaceAll("&quot;", '"').replaceAll("&amp;", "&")]);
  return { url: shown.url(), fields: Object.fromEntries(fields) };
}

// Much less than the time after which the service asks for recent authentication.
const KEPT_MS = 5 * 60_000;
const kept = new Map<string, { cookies: Awaited<ReturnType<BrowserContext["cookies"]>>; until: number }>();

/** Reuses the session of an earlier test of this worker, so no such test may sign out. */
export async function enterAgain(page: Page, person: Account): Promise<void> {
  const earlier = kept.get(person.username);
  if (earlier && earlier.until > Date.now()) {
    await page.context().addCookies(earlier.cookies);
    return;
  }
  await enter(page, person);
  // Only the service's cookies are kept, because the user may also be signed in at other sites.
  const cookies = await page.context().cookies((await form)?.url);
  kept.set(person.username, { cookies, until: Date.now() + KEPT_MS });
}
