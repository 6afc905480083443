import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { askForCode, DeviceCli, DevicePages, poll } from "./support/device.ts";
import { enter } from "./support/enter.ts";
import { underMouse } from "./support/permissions-modal.ts";
import { type Person, SignInPage } from "./support/sign-in-page.ts";

test.describe("the example command line", () => {
  let cli: DeviceCli;
  test.beforeEach(({ demo }) => {
    cli = new DeviceCli(demo);
  });
  test.afterEach(() => cli.stop());

  test("signs in once its code is entered in a browser on another device", async ({ page, member, signInPage, devicePages }) => {
    const { userCode, verificationUri } = await cli.instructions();
    const [north] = member.organizations;
    await page.goto(verificationUri);
    await signInPage.signIn(member);
    await devicePages.code.fill(userCode.toLowerCase().replace("-", " "));
    await devicePages.continueButton.click();
    await devicePages.confirm(userCode);
    await devicePages.modal.scope("email").uncheck();
    await devicePages.modal.organization(north.fullName).check();
    await expect(page.getByText("Then return to your device")).toBeVisible();
    await devicePages.modal.authorize();
    await devicePages.expectTitle("You have authorized Tin Whistle");
    await expect(page.getByText("You can close this page")).toBeVisible();

    expect(await cli.exitCode(), cli.printed).toBe(0);
    expect(cli.printed).toContain(`Signed in as ${member.fullName}.`);
    expect(cli.printed).toMatch(/^Granted: openid profile read-repos$/m);
    expect(cli.printed).not.toContain(member.email);
    expect(cli.printed).toContain(`Organizations: ${north.fullName} (admin)\n`);
  });

  test("signs in by the URL with its code, which still asks for confirmation", async ({
    page,
    person,
    signInPage,
    devicePages,
  }) => {
    const { userCode, completeUri } = await cli.instructions();
    await page.goto(completeUri);
    await signInPage.signIn(person);
    await expect(devicePages.code).toHaveValue(userCode);
    await devicePages.continueButton.click();
    await devicePages.confirm(userCode);
    await devicePages.modal.authorize();
    expect(await cli.exitCode(), cli.printed).toBe(0);
    expect(cli.printed).toContain(`E-mail: ${person.email}`);
    expect(cli.printed).toContain("Organizations: none");
  });

  test("ends when the user says that it is not their device", async ({ page, person, devicePages }) => {
    const { userCode } = await cli.instructions();
    await enter(page, person);
    await devicePages.enter(userCode);
    await devicePages.notMeButton.click();
    await devicePages.expectTitle("Access denied");
    expect(await cli.exitCode()).toBe(3);
    expect(cli.printed).toContain("The sign-in was refused.");
  });

  test("ends when the user cancels", async ({ page, person, devicePages }) => {
    const { userCode } = await cli.instructions();
    await enter(page, person);
    await devicePages.enterAndConfirm(userCode);
    await devicePages.modal.cancel();
    await devicePages.expectTitle("Access denied");
    expect(await cli.exitCode()).toBe(3);
  });
});

test("an app for devices needs no redirect URI, and its page has an example of the device flow", async ({
  page,
  demo,
  person,
  devicePages,
}) => {
  await enter(page, person);
  await page.goto("/settings/applications/new");
  await page.getByLabel("Name", { exact: true }).fill("Night Ferry");
  await page.getByLabel("Allow the device flow").check();
  await page.getByRole("button", { name: "Create app" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Night Ferry");
  const connect = page.getByRole("region", { name: "Connection" });
  await expect(connect.getByText(`${demo.origin}/oauth/device`, { exact: true })).toBeVisible();
  await expect(connect.getByText(`${demo.origin}/device`, { exact: true })).toBeVisible();
  await expect(connect.getByRole("radio")).toHaveCount(1);
  const deviceClientId = /client\.discovery\(\s+new URL\(.*\),\s+"([^"]+)"/.exec((await connect.textContent()) ?? "")?.[1] ?? "";

  const { user_code, device_code } = await askForCode({ ...demo, deviceClientId }, { scope: "openid profile" });
  await devicePages.enterAndConfirm(user_code);
  await devicePages.modal.authorize();
  await devicePages.expectTitle("You have authorized Night Ferry");
  const answer = await poll({ ...demo, deviceClientId }, device_code);
  expect(answer).toMatchObject({ status: 200, access_token: expect.any(String) });
});

test.describe("the code", () => {
  test.beforeEach(({ page, person }) => enter(page, person));

  test("stays in the field if it is wrong, with the reason beside it", async ({ page, devicePages }) => {
    await page.goto("/activate");
    await expect(devicePages.code).toBeFocused();
    expect(await send(page, devicePages, "bcdf-ghjk")).toBe(404);
    await expect(devicePages.code).toHaveValue("bcdf-ghjk");
    await expect(devicePages.code).toHaveAccessibleDescription(/This code is incorrect or has expired/);
    await expect(devicePages.code).toBeFocused();
  });

  test("S59 is not accepted for a while after ten wrong codes", async ({ page, devicePages }) => {
    await page.goto("/activate");
    for (let wrong = 0; wrong < 10; wrong++) expect(await send(page, devicePages, "BBBB-BBBB")).toBe(404);
    expect(await send(page, devicePages, "BBBB-BBBB")).toBe(429);
    await expect(devicePages.code).toHaveAccessibleDescription(/Too many codes were entered. Try again in \d+ minutes/);
    await expectAccessible(page);
  });

  test("S64 cannot be skipped by a link", async ({ page, demo, devicePages }) => {
    const { user_code, verification_uri_complete } = await askForCode(demo);
    for (const path of [verification_uri_complete, `${demo.origin}/oauth/device?user_code=${user_code}`]) {
      await page.goto(path);
      await expect(page).toHaveURL(`/activate?user_code=${user_code}`);
      await expect(devicePages.continueButton).toBeVisible();
    }
    for (const step of ["confirm", "permissions"]) {
      await page.goto(`/activate/${step}?user_code=${user_code}`);
      await expect(page).toHaveURL("/activate");
    }
    await devicePages.enter(user_code);
    await devicePages.expectAsked(user_code);
    await page.goto("/activate/permissions");
    await devicePages.expectAsked(user_code);
  });

  test("does not appear in a URL after it was entered", async ({ page, demo, devicePages }) => {
    const { user_code } = await askForCode(demo);
    const visited: string[] = [];
    page.on("framenavigated", (frame) => visited.push(frame.url()));
    await devicePages.enterAndConfirm(user_code);
    await devicePages.modal.authorize();
    await devicePages.expectTitle(/^You have authorized/);
    expect(visited.filter((url) => url.includes(user_code))).toEqual([]);
    expect((await page.context().cookies()).map(({ name }) => name).filter((name) => name.includes("device"))).toEqual([]);
  });

  test("leads to the page for used codes if the request was answered in another tab", async ({ page, demo, devicePages }) => {
    const { user_code } = await askForCode(demo);
    await devicePages.enter(user_code);
    const tab = await page.context().newPage();
    await tab.goto("/activate/confirm");
    await new DevicePages(tab).notMeButton.click();
    await new DevicePages(tab).expectTitle("Access denied");
    await (await underMouse(devicePages.continueButton)).click();
    await devicePages.expectTitle("This code was already used");
    await expectAccessible(page);
    await page.getByRole("link", { name: "Enter another code" }).click();
    await expect(devicePages.code).toBeVisible();
  });
});

test.describe("for a signed-in user", () => {
  test.beforeEach(({ page, person }) => enter(page, person));

  test("S65 a code that another account has opened is not found", async ({ browser, demo, another, devicePages }) => {
    const { user_code, device_code } = await askForCode(demo);
    await devicePages.enter(user_code);
    await devicePages.expectAsked(user_code);
    const theirs = await (await browser.newContext({ baseURL: demo.origin })).newPage();
    await enter(theirs, another);
    await theirs.goto("/activate");
    expect(await send(theirs, new DevicePages(theirs), user_code)).toBe(404);
    await theirs.context().close();
    await devicePages.confirm(user_code);
    await devicePages.modal.authorize();
    await devicePages.expectTitle(/^You have authorized/);
    expect(await poll(demo, device_code)).toMatchObject({ status: 200 });
  });

  for (const step of ["question", "modal"] as const) {
    test(`the account can be switched at the ${step}, which releases the code`, async ({ page, demo, another, devicePages }) => {
      const { user_code, device_code } = await askForCode(demo);
      await devicePages.enter(user_code);
      if (step === "modal") await devicePages.confirm(user_code);
      await devicePages.switchAccount.click();
      await new SignInPage(page).signIn(another);
      await expect(devicePages.code).toHaveValue(user_code);
      await devicePages.continueButton.click();
      await devicePages.confirm(user_code);
      await devicePages.modal.expectAccount(another);
      await devicePages.modal.authorize();
      await devicePages.expectTitle(/^You have authorized/);
      expect(await poll(demo, device_code)).toMatchObject({ status: 200 });
    });
  }

  test("S25 S65 an answer counts only for the account that the page showed", async ({ page, demo, another, devicePages }) => {
    const { user_code, device_code } = await askForCode(demo);
    await devicePages.enterAndConfirm(user_code);
    await switchTo(page, another);
    expect(await press(page, devicePages.modal.authorizeButton)).toBe(403);
    expect(await poll(demo, device_code)).toMatchObject({ error: "authorization_pending" });
  });

  test("S25 another site cannot send the forms", async ({ page, demo, devicePages }) => {
    const { user_code, device_code } = await askForCode(demo);
    await devicePages.enterAndConfirm(user_code);
    const body = await page
      .locator("form", { has: devicePages.modal.authorizeButton })
      .evaluate((form: HTMLFormElement) => ({ ...Object.fromEntries(new FormData(form) as never), decision: "allow" }));
    for (const [name, value] of [
      ["origin", "https://evil.example"],
      ["sec-fetch-site", "cross-site"],
    ] as const) {
      const sent = { multipart: body, headers: { [name]: value }, maxRedirects: 0 };
      expect((await page.context().request.post(page.url(), sent)).status()).toBe(403);
    }
    expect(await poll(demo, device_code)).toMatchObject({ error: "authorization_pending" });
  });

  test("S33 only requested scopes can be granted", async ({ page, demo, devicePages }) => {
    const { user_code } = await askForCode(demo);
    await devicePages.enterAndConfirm(user_code);
    await devicePages.modal.scope("email").evaluate((box) => box.setAttribute("value", "manage-repos"));
    expect(await press(page, devicePages.modal.authorizeButton)).toBe(400);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("does not match the request");
  });

  test("a double click authorizes once and leads to the result", async ({ demo, devicePages }) => {
    const { user_code } = await askForCode(demo);
    await devicePages.enterAndConfirm(user_code);
    await (await underMouse(devicePages.modal.authorizeButton)).dblclick();
    await devicePages.expectTitle("You have authorized Tin Whistle");
  });
});

test("S23 S24 the pages for a device have no script, and the browser would refuse to run one", async ({
  page,
  demo,
  person,
  devicePages,
}) => {
  await enter(page, person);
  const { user_code } = await askForCode(demo);
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(`${request.resourceType()} ${request.url()}`));
  page.on("response", (response) => {
    if (response.request().resourceType() !== "document" || response.status() >= 300) return;
    const headers = response.headers();
    expect.soft(headers["content-security-policy"]).toMatch(/script-src 'none'.*frame-ancestors 'none'/);
    expect.soft(headers).toMatchObject({ "referrer-policy": "no-referrer", "cache-control": "no-store" });
  });
  await devicePages.enterAndConfirm(user_code);
  await devicePages.modal.authorize();
  await devicePages.expectTitle(/^You have authorized/);
  expect(loaded.filter((line) => line.startsWith("script") || !line.includes(demo.origin))).toEqual([]);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("a device is authorized, after a wrong code and a sign-in", async ({ page, demo, person, signInPage, devicePages }) => {
    const { device_code, user_code, verification_uri } = await askForCode(demo);
    await page.goto(verification_uri);
    await signInPage.signIn(person);
    expect(await send(page, devicePages, "BCDF-BCDF")).toBe(404);
    await expect(devicePages.code).toHaveValue("BCDF-BCDF");
    await devicePages.code.fill(user_code);
    await devicePages.continueButton.click();
    await devicePages.confirm(user_code);
    await devicePages.modal.scope("read-repos").uncheck();
    await devicePages.modal.authorize();
    await devicePages.expectTitle("You have authorized Tin Whistle");
    expect(await poll(demo, device_code)).toMatchObject({ status: 200, scope: "openid profile email" });
  });
});

test("a device can be authorized with the keyboard alone", async ({ page, demo, person, devicePages }) => {
  await enter(page, person);
  const { device_code, user_code } = await askForCode(demo);
  await page.goto("/activate");
  await expect(devicePages.code).toBeFocused();
  await page.keyboard.type(user_code.replace("-", ""));
  await page.keyboard.press("Enter");
  await devicePages.expectAsked(user_code);
  await tabTo(page, devicePages.notMeButton);
  await page.keyboard.press("Tab");
  await expect(devicePages.continueButton).toBeFocused();
  await page.keyboard.press("Enter");
  await tabTo(page, devicePages.modal.scope("email"));
  await page.keyboard.press("Space");
  await tabTo(page, devicePages.modal.authorizeButton);
  await page.keyboard.press("Enter");
  await devicePages.expectTitle(/^You have authorized/);
  expect(await poll(demo, device_code)).toMatchObject({ status: 200, scope: "openid profile read-repos" });
});

test("S64 the question warns of a device on another network", async ({ page, demo, person, devicePages }) => {
  await enter(page, person);
  // The demo trusts proxies on this machine.
  const elsewhere = { "x-forwarded-for": "203.0.113.77", "user-agent": "lighthouse-cli/1.4 (linux x64)" };
  const { user_code } = await askForCode(demo, { headers: elsewhere });
  await page.goto(`/device?user_code=${user_code}`);
  await devicePages.continueButton.click();
  await devicePages.expectAsked(user_code);
  await expect(page.getByText("The device that requests access seems to be on a different network")).toBeVisible();
  await expect(page.getByText("lighthouse-cli on Linux")).toBeVisible();
  await expect(page.getByText("203.0.113.77 · requested just now")).toBeVisible();
  await expectAccessible(page);
});

async function send(page: Page, devicePages: DevicePages, userCode: string): Promise<number> {
  await devicePages.code.fill(userCode);
  return press(page, devicePages.continueButton);
}

async function press(page: Page, button: DevicePages["continueButton"]): Promise<number> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    (await underMouse(button)).click(),
  ]);
  await page.waitForLoadState();
  return answer.status();
}

async function switchTo(page: Page, person: Person): Promise<void> {
  const tab = await page.context().newPage();
  await enter(tab, person);
  await tab.close();
}

async function tabTo(page: Page, goal: DevicePages["continueButton"]): Promise<void> {
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press("Tab");
    if (await goal.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not reach ${goal}.`);
}
