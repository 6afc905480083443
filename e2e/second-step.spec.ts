import type { Browser, Page } from "@playwright/test";
import { Secret, TOTP } from "otpauth";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";
import { type Person, SignInPage } from "./support/sign-in-page.ts";

const SECURITY = "/settings/security";

/** `stepsAhead` counts half minutes. */
function codeOf(secret: string, stepsAhead = 0): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + stepsAhead * 30_000 });
}

async function firstStep(browser: Browser, origin: string, person: Person): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: origin, javaScriptEnabled: false })).newPage();
  await page.goto("/login");
  await new SignInPage(page).signIn(person);
  await expect(page).toHaveURL(/\/login\/second-step\?/);
  return page;
}

test("a passkey signs in alone, as the second step, and for an app that wants a new sign-in", async ({
  page,
  person,
  sampleSite,
  signInAt,
  signInPage,
}) => {
  await addPasskeyDevice(page);
  const site = sampleSite("server side");
  await signInAt(site, person);

  await page.goto("/");
  await page.goto(SECURITY);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Create recovery codes" }).click();
  await expect(page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
  await expectAccessible(page);
  await page.getByRole("link", { name: "I have saved them" }).click();
  await expect(page.getByText("10 of 10 are left")).toBeVisible();
  const passkeys = page.getByRole("list", { name: "Passkeys" }).getByRole("listitem");
  await expect(passkeys).toContainText(/on Linux.*never used/);
  await passkeys.getByText("Rename").click();
  await page.getByLabel("Name", { exact: true }).fill("Desk at home");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(passkeys).toContainText("Desk at home");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByText("This device already has a passkey for your account.")).toBeVisible();

  await test.step("it signs in alone", async () => {
    await page.context().clearCookies();
    await page.goto(`/login?next=${SECURITY}`);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await expect(page).toHaveURL(new RegExp(`${SECURITY}$`));
    await expect(passkeys).toContainText(/last used/);
  });

  await test.step("it is the second step", async () => {
    await page.context().clearCookies();
    await page.goto(`/login?next=${SECURITY}`);
    await signInPage.signIn(person);
    await expect(page.getByText(`Your account ${person.username} requires a second step.`)).toBeVisible();
    await expectAccessible(page);
    await page.goto(SECURITY);
    await expect(page, "nobody is signed in between the steps").toHaveURL(/\/login\?next=/);
    await page.goto(`/login/second-step?next=${SECURITY}`);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Security" })).toBeVisible();
  });

  await test.step("an app that wants a new sign-in gets one", async () => {
    await site.open();
    await site.requestAccess({ showPage: "always, to sign in again" });
    await expect(page.getByRole("heading", { level: 1, name: "Confirm your identity" })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await site.expectSignedIn(person.fullName);
  });

  await page.goto(SECURITY);
  await passkeys.getByText("Remove", { exact: true }).click();
  await page.getByRole("button", { name: "Remove Desk at home" }).click();
  await expect(page.getByText("Passkey removed.")).toBeVisible();
  await enter(page, person);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("an authenticator app is required before an app is authorized, codes work once, and the operator can reset it", async ({
    page,
    demo,
    browser,
    person,
    sampleSite,
    signInPage,
    modal,
  }) => {
    await enter(page, person);
    await page.goto(SECURITY);
    await page.getByRole("button", { name: "Set up an authenticator app" }).click();
    await expect(page.getByRole("img", { name: "QR code for your authenticator app" })).toBeVisible();
    const secret = ((await page.getByText(/^([A-Z2-7]{4} ?){8}$/).textContent()) ?? "").replaceAll(" ", "");
    await page.getByRole("textbox", { name: "Code" }).fill("000000");
    await page.getByRole("button", { name: "Turn on" }).click();
    await expect(page.getByRole("textbox", { name: "Code" })).toHaveAccessibleDescription(/This code is incorrect/);
    await page.getByRole("textbox", { name: "Code" }).fill(codeOf(secret, -1));
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("button", { name: "Create recovery codes" }).click();
    const codes = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect(codes).toHaveCount(10);
    const recoveryCodes = await codes.allTextContents();

    await page.context().clearCookies();
    const site = sampleSite("server side");
    await site.open();
    await site.signInButton.click();
    await signInPage.signIn(person);
    await page.getByLabel("Code from your authenticator app").fill("000000");
    await page.getByRole("button", { name: "Confirm" }).click();
    await expect(page.getByLabel("Code from your authenticator app")).toHaveAccessibleDescription(/incorrect/);
    const code = codeOf(secret);
    await page.getByLabel("Code from your authenticator app").fill(code);
    await page.getByRole("button", { name: "Confirm" }).click();
    await modal.expectShownFor(site.name);
    await modal.authorize();
    await site.expectSignedIn(person.fullName);

    const again = await firstStep(browser, demo.origin, person);
    await again.getByLabel("Code from your authenticator app").fill(code);
    await again.getByRole("button", { name: "Confirm" }).click();
    await expect(again.getByLabel("Code from your authenticator app")).toHaveAccessibleDescription(/already used/);
    const [recoveryCode = ""] = recoveryCodes;
    const other = await firstStep(browser, demo.origin, person);
    for (const [at, isFirst] of [
      [again, true],
      [other, false],
    ] as const) {
      await at.getByText("Use a recovery code").click();
      await at.getByRole("textbox", { name: "Recovery code" }).fill(recoveryCode);
      await at.getByRole("button", { name: "Use this code" }).click();
      if (isFirst) await expect(at.getByRole("heading", { level: 1, name: `Hello, ${person.fullName}` })).toBeVisible();
      else await expect(at.getByRole("textbox", { name: "Recovery code" })).toHaveAccessibleDescription(/already used/);
    }
    await again.goto(SECURITY);
    await expect(again.getByText("9 of 10 are left")).toBeVisible();

    await admin(demo, "user", "reset-second-step", "--user", person.username);
    await enter(other, person);
    await other.goto(SECURITY);
    await expect(other.getByText("Available after you add a passkey or an authenticator app.")).toBeVisible();
    await again.reload();
    await expect(again, "the reset ends no session").toHaveURL(new RegExp(`${SECURITY}$`));
    for (const at of [again, other]) await at.context().close();
  });
});

async function addPasskeyDevice(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
