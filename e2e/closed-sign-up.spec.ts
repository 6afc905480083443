import { type Browser, test as base, expect, type Page } from "@playwright/test";
import { type FreshService, startFreshService } from "./support/demo.ts";
import { readLinkTo } from "./support/kept-mail.ts";
import { underMouse } from "./support/permissions-modal.ts";

/** This story has its own service, because other stories sign people up on the demo at the same time. */
const test = base.extend<object, { service: FreshService }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads which fixtures are wanted from this pattern.
    async ({}, use) => {
      const service = await startFreshService();
      await use(service);
      await service.stop();
    },
    { scope: "worker", timeout: 90_000 },
  ],
  baseURL: ({ service }, use) => use(service.origin),
});

const PASSWORD = "wide slow river";
const CLOSED = "Only invited people can create an account with a password here.";

async function fillIn(page: Page, { username, email }: { username: string; email: string }): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
}

async function openWithoutScripts(browser: Browser, { origin }: FreshService): Promise<Page> {
  return (await browser.newContext({ baseURL: origin, javaScriptEnabled: false })).newPage();
}

async function closeSignUp(page: Page, { setupLink }: FreshService): Promise<void> {
  await page.goto(setupLink);
  await fillIn(page, { username: "opal", email: "opal@example.test" });
  await page.getByRole("button", { name: "Create the operator" }).click();
  await expect(page.getByRole("button", { name: "Account menu of opal" })).toBeVisible();
  await page.goto("/admin/sign-up");
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Only invited people can now create an account" })).toBeVisible();
}

async function invite(page: Page, email: string): Promise<string> {
  await page.goto("/organizations/new");
  await page.getByLabel("Name in URLs").fill("tidepool");
  await page.getByRole("button", { name: "Create organization" }).click();
  await page.waitForURL("**/organizations/tidepool**");
  await page.goto("/organizations/tidepool/members");
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Create invitation" }).click();
  return (await page.getByText(/\/invitations\/[\w-]+$/).textContent()) ?? "";
}

test("a new operator closes sign-up: only an invited person can create an account, with the invited address", async ({
  page,
  service,
  browser,
}) => {
  const visitor = await openWithoutScripts(browser, service);
  const early = await openWithoutScripts(browser, service);
  await early.goto("/signup");
  await fillIn(early, { username: "early", email: "early@example.test" });

  await closeSignUp(page, service);
  for (const path of ["/", "/login"]) {
    await visitor.goto(path);
    await expect(visitor.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(visitor.getByRole("link", { name: "Create an account" })).toHaveCount(0);
  }
  await visitor.goto("/signup");
  await expect(visitor.getByText(CLOSED)).toBeVisible();
  await expect(visitor.getByRole("textbox")).toHaveCount(0);
  await expect(visitor.getByRole("link", { name: "Sign in" })).toBeVisible();
  await early.getByRole("button", { name: "Create account" }).click();
  await expect(early.getByText(CLOSED)).toBeVisible();

  const email = "mara@example.test";
  await visitor.goto(await invite(page, email));
  await visitor.getByRole("link", { name: "Create an account" }).click();
  await expect(visitor.getByLabel("E-mail")).toHaveValue(email);
  await fillIn(visitor, { username: "mara", email: "somebody.else@example.test" });
  await visitor.getByRole("button", { name: "Create account" }).click();
  await expect(visitor.getByLabel("E-mail")).toHaveAccessibleDescription(/is for another e-mail address/);
  await fillIn(visitor, { username: "mara", email });
  await visitor.getByRole("button", { name: "Create account" }).click();
  await expect(visitor.getByText(email)).toBeVisible();

  await visitor.goto(await readLinkTo(service, email, "/verify-email/"));
  await visitor.getByLabel("The password that you chose").fill(PASSWORD);
  await visitor.getByRole("button", { name: "Finish" }).click();
  await (await underMouse(visitor.getByRole("button", { name: "Join tidepool" }))).click();
  await expect(visitor).toHaveURL(/\/organizations\/tidepool$/);
});
