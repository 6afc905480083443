import type { BrowserContext, Page } from "@playwright/test";
import { type Person, SignInPage } from "./sign-in-page.ts";

type Account = Pick<Person, "username" | "password">;

/** Signs somebody in on the service's own pages. */
export async function enter(page: Page, person: Account): Promise<void> {
  await page.goto("/login?switch=1");
  await new SignInPage(page).signIn(person);
  await page.waitForURL((url) => url.pathname !== "/login");
}

// Well before the service asks who it is again.
const KEPT_MS = 5 * 60_000;
const kept = new Map<string, { cookies: Awaited<ReturnType<BrowserContext["cookies"]>>; until: number }>();

/** The same for whoever only looks: the session of an earlier test, if this worker has one of theirs. Nobody may sign out of it. */
export async function enterAgain(page: Page, person: Account): Promise<void> {
  const earlier = kept.get(person.username);
  if (earlier && earlier.until > Date.now()) {
    await page.context().addCookies(earlier.cookies);
    return;
  }
  await enter(page, person);
  kept.set(person.username, { cookies: await page.context().cookies(), until: Date.now() + KEPT_MS });
}
