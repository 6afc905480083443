import type { Page } from "@playwright/test";
import { type Person, SignInPage } from "./sign-in-page.ts";

/** Signs somebody in on the service's own pages. */
export async function enter(page: Page, person: Pick<Person, "username" | "password">): Promise<void> {
  await page.goto("/login?switch=1");
  await new SignInPage(page).signIn(person);
  await page.waitForURL((url) => url.pathname !== "/login");
}
