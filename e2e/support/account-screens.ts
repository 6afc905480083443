import { randomBytes } from "node:crypto";
import { expect, type Page } from "@playwright/test";
import { admin } from "./admin.ts";
import { enterAgain } from "./enter.ts";
import { readLinkTo } from "./kept-mail.ts";
import { account, go, type Screen } from "./screen.ts";
import { SignInPage } from "./sign-in-page.ts";

export const accountScreens: Screen[] = [
  { name: "sign-in-refused", open: async ({ page }) => refuseSignIn(page) },
  { name: "sign-up-sent", open: async ({ page }) => void (await signUp(page)) },
  { name: "verify-email", open: async ({ page, demo }) => void (await page.goto(await readLinkTo(demo, await signUp(page)))) },
  { name: "forgot-password-sent", open: async ({ page, newcomer }) => forgetPassword(page, newcomer.email) },
  {
    name: "reset-password",
    async open({ page, demo }) {
      await forgetPassword(page, "jonas@example.test");
      await page.goto(await readLinkTo(demo, "jonas@example.test"));
    },
  },
  {
    name: "sign-up-refused",
    async open({ page }) {
      await go(page, "/signup");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
    },
  },
  {
    name: "token-made",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/tokens/new");
      await page.getByLabel("Name", { exact: true }).fill("laptop");
      await page.getByLabel("Read your repositories, including private ones").check();
      await page.getByRole("button", { name: "Create token" }).click();
      await page.getByText("Copy the access token now").waitFor();
    },
  },
  {
    name: "invitation-created",
    async open({ page, demo, newcomer }) {
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/organizations/tidepool/members");
      await page.getByLabel("E-mail").fill(newcomer.email);
      await page.getByRole("button", { name: "Create invitation" }).click();
      await page.getByText("Copy the link below and send it to").waitFor();
    },
  },
  {
    name: "invitation",
    async open({ page, demo, newcomer }) {
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/organizations/tidepool/members");
      await page.getByLabel("E-mail").fill(newcomer.email);
      await page.getByRole("button", { name: "Create invitation" }).click();
      // Each invitation replaces the invitation of the previous screen, so the link in an email may be out of date.
      const link = (await page.getByText(/\/invitations\/[\w-]+$/).textContent()) ?? "";
      await enterAgain(page, newcomer);
      await go(page, link);
      await page.getByRole("button", { name: /^Join/ }).waitFor();
    },
  },
  {
    name: "tokens",
    async open(visit) {
      await admin(visit.demo, "token", "create", "--user", "mara", "--scopes", "read-repos write-repos", "--expires", "30");
      await enterAgain(visit.page, account(visit, "mara"));
      await go(visit.page, "/settings/tokens");
    },
  },
];

async function refuseSignIn(page: Page): Promise<void> {
  await page.goto("/login");
  await new SignInPage(page).signIn({ username: "mara", password: "not the password" });
  await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/Incorrect/);
}

async function signUp(page: Page): Promise<string> {
  const username = `n${randomBytes(5).toString("hex")}`;
  const email = `${username}@example.test`;
  await page.goto("/signup");
  await page.getByLabel("Username", { exact: true }).fill(username);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(randomBytes(12).toString("hex"));
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText(email).waitFor();
  return email;
}

async function forgetPassword(page: Page, email: string): Promise<void> {
  await page.goto("/forgot-password");
  await page.getByLabel("E-mail of your account").fill(email);
  await page.getByRole("button", { name: "Request the link" }).click();
  await page.getByText(email).waitFor();
}
