import { expect, type Locator, type Page } from "@playwright/test";
import type { Demo } from "./demo.ts";
import { enterAgain } from "./enter.ts";
import type { Person } from "./sign-in-page.ts";

export type Visit = {
  page: Page;
  demo: Demo;
  newcomer: Person;
};

export type Screen = { name: string; open: (visit: Visit) => Promise<void> };

/** @param status the expected status, so that an error page does not pass as the screen */
export function at(name: string, path: string, status = 200): Screen {
  return { name, open: ({ page }) => go(page, path, status) };
}

export function as(who: string, name: string, path: string): Screen {
  return {
    name,
    async open(visit) {
      await enterAgain(visit.page, account(visit, who));
      await go(visit.page, path);
      // The sign-in page of an expired session may pass a check that this screen would fail.
      if (!path.startsWith("/login")) expect(new URL(visit.page.url()).pathname).not.toBe("/login");
    },
  };
}

export async function go(page: Page, path: string, status = 200): Promise<void> {
  const answer = await page.goto(path);
  expect(answer?.status(), `status of ${path}`).toBe(status);
}

/** Presses the key until it has an effect, because keys have no effect before the page's scripts run. */
export const pressFor = (page: Page, key: string, goal: Locator): Promise<void> =>
  expect(async () => {
    await page.keyboard.press(key);
    await expect(goal).toBeFocused({ timeout: 1_000 });
  }).toPass();

/** @param who `newcomer`, or the username of one of the demo's users */
export function account({ demo, newcomer }: Visit, who: string): Pick<Person, "username" | "password"> {
  return who === "newcomer" ? newcomer : { username: who, password: demo.password };
}
