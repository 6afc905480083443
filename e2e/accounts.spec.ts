import { randomBytes } from "node:crypto";
import type { Browser, Locator, Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { readLinkTo } from "./support/kept-mail.ts";
import { type Person, SignInPage } from "./support/sign-in-page.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function newPerson(): Person {
  const username = `n${randomBytes(5).toString("hex")}`;
  return { username, fullName: `New ${username}`, email: `${username}@example.test`, password: randomBytes(12).toString("hex") };
}

async function signIn(page: Page, person: Pick<Person, "username" | "password">): Promise<void> {
  await page.goto("/login");
  await new SignInPage(page).signIn(person);
  await page.waitForURL((url) => url.pathname === "/");
}

async function signInElsewhere(browser: Browser, baseURL: string | undefined, person: Person): Promise<Page> {
  const page = await (await browser.newContext({ baseURL })).newPage();
  await enter(page, person);
  return page;
}

async function expectSignedOut(page: Page): Promise<void> {
  await page.goto("/settings/account");
  await expect(page).toHaveURL(/\/login\?next=%2Fsettings%2Faccount$/);
}

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("a user signs up, confirms by email, forgets the password, chooses a new one, and ends the other sessions", async ({
      page,
      demo,
      browser,
      baseURL,
      signInPage,
    }) => {
      const person = newPerson();
      await page.goto("/signup?next=/settings/profile");
      await page.getByLabel("Username").fill("x");
      await page.getByLabel("Full name").fill(person.fullName);
      await page.getByLabel("E-mail").fill("not an address");
      await page.getByLabel("Password", { exact: true }).fill("short");
      await page.getByRole("button", { name: "Create account" }).click();
      await expect(page.getByLabel("Username")).toHaveAccessibleDescription(/2 to 39 characters/);
      await expect(page.getByLabel("E-mail")).toHaveAccessibleDescription(/Enter an e-mail address/);
      await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/at least 8 characters/);
      await page.getByLabel("Username").fill(person.username);
      await page.getByLabel("Password", { exact: true }).fill(person.password);
      await page.getByRole("button", { name: "Create account" }).click();
      await expect(page.getByLabel("E-mail")).toHaveAccessibleDescription(/Enter an e-mail address/);
      await expect(page.getByLabel("Username")).toHaveValue(person.username);
      await expect(page.getByLabel("Password", { exact: true }), "a password is never sent back").toHaveValue("");

      await page.getByLabel("E-mail").fill(person.email);
      await page.getByLabel("Password", { exact: true }).fill(person.password);
      await page.getByRole("button", { name: "Create account" }).click();
      await expect(page.getByText(person.email)).toBeVisible();

      await page.goto(await readLinkTo(demo, person.email, "/verify-email/"));
      await page.getByLabel("The password that you chose", { exact: true }).fill("not what was chosen");
      await page.getByRole("button", { name: "Finish" }).click();
      await expect(page.getByLabel("The password that you chose", { exact: true }), "S142").toHaveAccessibleDescription(
        /not the password/,
      );
      await page.getByLabel("The password that you chose", { exact: true }).fill(person.password);
      await page.getByRole("button", { name: "Finish" }).click();
      await expect(page, "the target page is kept in the email's link").toHaveURL(/\/settings\/profile$/);

      await page.goto("/logout");
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page.getByRole("heading", { level: 1, name: /^Sign-in, repositories/ })).toBeVisible();
      await expectSignedOut(page);

      await page.goto("/forgot-password");
      await page.getByLabel("E-mail of your account").fill(person.email);
      await page.getByRole("button", { name: "Request the link" }).click();
      await expect(page.getByText(person.email)).toBeVisible();
      const reset = await readLinkTo(demo, person.email, "/reset-password/");
      await page.goto(reset);
      await page.getByLabel("New password").fill("short");
      await page.getByRole("button", { name: "Change password" }).click();
      await expect(page.getByLabel("New password")).toHaveAccessibleDescription(/at least 8 characters/);
      const renewed = { ...person, password: randomBytes(12).toString("hex") };
      await page.getByLabel("New password").fill(renewed.password);
      await page.getByRole("button", { name: "Change password" }).click();
      await expect(page.getByRole("status")).toContainText("Sign in with the new one");

      await signInPage.signIn(person);
      await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/Incorrect/);
      await signInPage.signIn(renewed);
      await expect(page.getByRole("heading", { level: 1, name: `Hello, ${person.fullName}` })).toBeVisible();
      await page.goto(reset);
      await expect(page.getByRole("heading", { level: 1, name: "This link no longer works" })).toBeVisible();

      const elsewhere = await signInElsewhere(browser, baseURL, renewed);
      const settings = new AccountSettings(page);
      await settings.open();
      await expect(settings.sessions).toHaveCount(2);
      await settings.endOtherSessions();
      await expect(settings.sessions).toHaveCount(1);
      await expectSignedOut(elsewhere);
      await elsewhere.context().close();
    });

    test("a change of the e-mail address sends a link to the new address and a warning to the old one", async ({
      page,
      demo,
      person,
    }) => {
      await enter(page, person);
      const settings = new AccountSettings(page);
      await settings.open();
      await settings.changeEmail(person.email);
      await expect(page.getByLabel("New e-mail")).toHaveAccessibleDescription(/This is already your e-mail address/);
      const address = `other-${person.email}`;
      await settings.changeEmail(address);
      await expect(settings.section("E-mail").getByRole("status")).toContainText(address);
      await settings.open();
      await expect(settings.section("E-mail")).toContainText(person.email);

      await readLinkTo(demo, person.email, "/forgot-password");
      await page.goto(await readLinkTo(demo, address, "/verify-email/"));
      await page.getByRole("button", { name: "Confirm" }).click();
      await expect(page.getByRole("status")).toContainText("E-mail address changed");
      await expect(settings.section("E-mail")).toContainText(`Your address is ${address}`);
    });

    test("a picture is uploaded, shown and removed, and a file of another type is refused", async ({ page, person }) => {
      await enter(page, person);
      await page.goto("/settings/profile");
      await page
        .getByLabel("Picture")
        .setInputFiles({ name: "me.png", mimeType: "image/png", buffer: Buffer.from("not a picture") });
      await page.getByLabel("Full name").fill("Somebody Else");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByLabel("Picture")).toHaveAttribute("aria-invalid", "true");
      await expect(page.getByLabel("Full name")).toHaveValue("Somebody Else");

      await page.getByLabel("Picture").setInputFiles({ name: "me.png", mimeType: "image/png", buffer: PNG });
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByRole("status")).toContainText("saved");
      const inHeader = page.getByRole("button", { name: `Account menu of ${person.username}` }).locator("img");
      await expect(inHeader).toHaveAttribute("src", /\?v=[0-9a-f]{24}$/);
      const picture = await page.request.get((await inHeader.getAttribute("src")) ?? "");
      expect(picture.headers()["content-type"]).toBe("image/webp");

      await page.getByLabel("Delete the current picture").check();
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByLabel("Delete the current picture")).toHaveCount(0);
      await expect(inHeader).toHaveAttribute("src", `/avatars/${person.username}`);
    });

    test("an account can be deleted only by typing its name", async ({ page, person, signInPage }) => {
      await enter(page, person);
      const settings = new AccountSettings(page);
      await settings.open();
      await settings.deleteAccount(person.username, { typing: "something else" });
      await expect(page.getByLabel(/^Type .* to confirm$/)).toHaveAccessibleDescription(`Type ${person.username} to confirm.`);
      await settings.deleteAccount(person.username, { typing: person.username });
      await expect(page.getByText("Account deleted.")).toBeVisible();
      await page.goto("/login");
      await signInPage.signIn(person);
      await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/Incorrect/);
    });

    test("the chosen theme is kept", async ({ page }) => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto("/login");
      await page.getByRole("button", { name: "Dark" }).click();
      await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
      await page.goto("/signup");
      await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
      await page.getByRole("button", { name: "System" }).click();
      await expect(page.locator("html")).not.toHaveAttribute("data-theme");
    });
  });
}

test("S112 a new password ends the other sessions", async ({ page, browser, baseURL, person }) => {
  await enter(page, person);
  const elsewhere = await signInElsewhere(browser, baseURL, person);
  const settings = new AccountSettings(page);
  await settings.open();
  await settings.changePassword("not the password", "three tides a day");
  await expect(page.getByLabel("Current password")).toHaveAccessibleDescription(/not your password/);
  await settings.changePassword(person.password, "three tides a day");
  await expect(settings.section("Password").getByRole("status")).toContainText("1 other session was ended");
  await settings.open();
  await expect(settings.sessions).toHaveCount(1);
  await expectSignedOut(elsewhere);
  await elsewhere.context().close();
});

test("S34 signing in replaces the session that the browser had before", async ({ page, person }) => {
  await signIn(page, person);
  const cookieOf = async () => (await page.context().cookies()).find(({ name }) => name.includes("session"));
  const before = await cookieOf();
  await page.goto("/login?switch=1");
  await new SignInPage(page).signIn(person);
  await page.waitForURL((url) => url.pathname === "/");
  const after = await cookieOf();
  expect(after?.value).not.toBe(before?.value);
  await page.context().addCookies([{ ...(before as NonNullable<typeof before>) }]);
  await expectSignedOut(page);
});

test("next-auth reads the session of our pages and can end it", async ({ page, person }) => {
  await enter(page, person);
  const ask = async () => (await page.request.get("/api/auth/session")).json();
  expect(await ask()).toMatchObject({ user: { name: person.fullName, email: person.email } });
  await page.goto("/settings/account");
  await expect(page, "asking leaves the session as it is").toHaveURL(/\/settings\/account$/);

  const kept = await page.context().cookies();
  const { csrfToken } = await (await page.request.get("/api/auth/csrf")).json();
  await page.request.post("/api/auth/signout", { form: { csrfToken, json: "true" } });
  expect(await ask()).toEqual({});
  await page.context().addCookies(kept);
  await expectSignedOut(page);
  await enter(page, person);
  await page.goto("/settings/security-log");
  await expect(page.getByRole("listitem").filter({ hasText: `${person.username} signed out` })).toBeVisible();
});

for (const next of ["//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example/", "/..//elsewhere.example"]) {
  test(`after signing in with next=${next}, the user stays at this service (open redirect)`, async ({
    page,
    demo,
    person,
    signInPage,
  }) => {
    await page.goto(`/login?${new URLSearchParams({ next })}`);
    await signInPage.signIn(person);
    await expect(page.getByRole("heading", { level: 1, name: `Hello, ${person.fullName}` })).toBeVisible();
    expect(new URL(page.url()).origin).toBe(demo.origin);
  });
}

class AccountSettings {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(): Promise<void> {
    await this.page.goto("/settings/account");
  }

  section(name: string): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  get sessions(): Locator {
    return this.section("Sessions").getByRole("listitem");
  }

  async endOtherSessions(): Promise<void> {
    await this.page.getByRole("button", { name: "End all others" }).click();
    await expect(this.page.getByRole("status")).toContainText("All other sessions ended");
  }

  async changePassword(present: string, next: string): Promise<void> {
    if (!this.page.url().endsWith("/settings/security")) await this.page.goto("/settings/security");
    await this.page.getByLabel("Current password").fill(present);
    await this.page.getByLabel("New password").fill(next);
    await this.page.getByRole("button", { name: "Change password" }).click();
  }

  async changeEmail(address: string): Promise<void> {
    await this.page.getByLabel("New e-mail").fill(address);
    await this.page.getByRole("button", { name: "Change e-mail" }).click();
  }

  async deleteAccount(username: string, { typing }: { typing: string }): Promise<void> {
    const confirmation = this.page.getByLabel(/^Type .* to confirm$/);
    // After an error, the form is already open.
    if (!(await confirmation.isVisible())) await this.page.getByText("Delete my account").click();
    await confirmation.fill(typing);
    await this.page.getByRole("button", { name: `Delete ${username}` }).click();
  }
}
