import type { Page, Response } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { pressOnArrival, underMouse } from "./support/permissions-modal.ts";
import type { Person } from "./support/sign-in-page.ts";

async function press(page: Page, name: string): Promise<Response> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    (await underMouse(page.getByRole("button", { name }))).click(),
  ]);
  await page.waitForLoadState();
  return answer;
}

async function switchTo(page: Page, person: Person): Promise<void> {
  const tab = await page.context().newPage();
  await enter(tab, person);
  await tab.close();
}

test.beforeEach(async ({ page, person, sampleSite }) => {
  await enter(page, person);
  const site = sampleSite("server side");
  await site.open();
  await site.requestAccess({ scopes: ["email", "read-repos", "write-discussions"] });
  await page.waitForURL("**/interaction/*");
});

test("S26 the consent page shows the app, the account, the scopes, the duration and the destination", async ({
  page,
  person,
}) => {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Paper Lantern wants to access your Keyhook account");
  await expect(page.getByText("Not verified by Keyhook")).toBeVisible();
  await expect(page.getByText(`${person.username} · ${person.email}`)).toBeVisible();
  await expect(page.getByText("Needed to sign you in")).toHaveCount(2);
  await expect(page.getByRole("checkbox", { name: "See your e-mail address" })).toHaveAccessibleDescription(person.email);
  await expect(page.getByRole("checkbox", { name: "Open discussions" })).toHaveAccessibleDescription(/Posts as you/);
  await expect(page.getByText(/You’ll be redirected to .*127\.0\.0\.1:\d+/)).toBeVisible();
  await expect(page.getByText("Access lasts 8 hours at a time")).toBeVisible();
  await expect(page.getByText("You are not in any organization")).toBeVisible();
});

test("S32 Authorize is visible without scrolling, and the choice of all organizations marks each of them as included", async ({
  page,
  member,
  modal,
}) => {
  await switchTo(page, member);
  await page.reload();
  await page.setViewportSize({ width: 1280, height: 768 });
  await expect(modal.authorizeButton).toBeInViewport({ ratio: 1 });
  const one = modal.organization(member.organizations[0].fullName);
  const all = page.getByRole("checkbox", { name: "All current and future organizations" });
  await expect(one).toBeVisible();
  await all.check();
  await expect(one).toBeHidden();
  await expect(page.getByText("Included")).toHaveCount(member.organizations.length);
  await all.uncheck();
  await expect(one).toBeVisible();
});

test("S24 the consent page has no script, and the browser would refuse to run one", async ({ page, demo }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(`${request.resourceType()} ${request.url()}`));
  const answer = await page.reload();
  await page.waitForLoadState("networkidle");
  expect(loaded.filter((line) => line.startsWith("script"))).toEqual([]);
  expect(loaded.filter((line) => !line.includes(demo.origin))).toEqual([]);
  expect(await page.locator("script").count()).toBe(0);
  expect(answer?.headers()["content-security-policy"]).toMatch(/script-src 'none'.*frame-ancestors 'none'/);
});

test("the consent page can be used with the keyboard alone, and Enter in a field grants nothing", async ({
  page,
  sampleSite,
}) => {
  const site = sampleSite("server side");
  await page.getByRole("checkbox", { name: "Open discussions" }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Authorize" })).toBeFocused();
  await page.getByRole("checkbox", { name: "See your e-mail address" }).focus();
  await page.keyboard.press("Enter");
  await site.expectMessage("You did not authorize Paper Lantern");
});

test("a double click authorizes once and leads to the site", async ({ page, person, sampleSite }) => {
  await (await underMouse(page.getByRole("button", { name: "Authorize" }))).dblclick();
  await sampleSite("server side").expectSignedIn(person.fullName);
});

test("S25 a press immediately after the mouse has arrived grants nothing", async ({ page, person, modal, sampleSite }) => {
  const answers: string[] = [];
  page.on("request", (request) => request.method() === "POST" && answers.push(request.url()));
  await pressOnArrival(page, modal.authorizeButton);
  await modal.authorize();
  await sampleSite("server side").expectSignedIn(person.fullName);
  expect(answers.filter((url) => url.includes("/interaction/"))).toHaveLength(1);
});

test("S25 an answer that is sent again later is refused", async ({ page, browser, demo, person, sampleSite }) => {
  const url = page.url();
  const [cookies, body] = [await page.context().cookies(), await formBody(page, { decision: "allow" })];
  await (await underMouse(page.getByRole("button", { name: "Authorize" }))).click();
  await sampleSite("server side").expectSignedIn(person.fullName);
  const context = await browser.newContext({ baseURL: demo.origin });
  await context.addCookies(cookies);
  const replay = await context.request.post(url, { multipart: body, headers: { origin: demo.origin }, maxRedirects: 0 });
  expect(replay.status()).toBe(400);
  await context.close();
});

test("S25 another site cannot send the form", async ({ page }) => {
  const body = await formBody(page, { decision: "allow" });
  for (const [name, value] of [
    ["origin", "https://evil.example"],
    ["sec-fetch-site", "cross-site"],
  ] as const) {
    const headers = { [name]: value };
    const answer = await page.context().request.post(page.url(), { multipart: body, headers, maxRedirects: 0 });
    expect(answer.status()).toBe(403);
  }
});

test("S25 another browser cannot see the question", async ({ page, browser, demo, another }) => {
  const context = await browser.newContext({ baseURL: demo.origin });
  const theirs = await context.newPage();
  await enter(theirs, another);
  const answer = await theirs.goto(page.url());
  expect(answer?.status()).toBe(410);
  await expect(theirs.getByRole("heading", { level: 1 })).toHaveText("This sign-in has expired");
  await context.close();
});

test("S25 S34 an answer counts only for the account that the page showed", async ({ page, another, sampleSite }) => {
  await switchTo(page, another);
  expect((await press(page, "Authorize")).status()).toBe(403);
  await page.getByRole("link", { name: "Reload" }).click();
  await expect(page.getByText(another.email).first()).toBeVisible();
  await (await underMouse(page.getByRole("button", { name: "Authorize" }))).click();
  await sampleSite("server side").expectSignedIn(another.fullName);
});

test("S33 only requested scopes can be granted", async ({ page }) => {
  await page
    .getByRole("checkbox", { name: "See your e-mail address" })
    .evaluate((box) => box.setAttribute("value", "manage-repos"));
  expect((await press(page, "Authorize")).status()).toBe(400);
  await expect(page.getByRole("main").getByRole("alert")).toContainText("does not match the request");
});

function formBody(page: Page, extra: Record<string, string>): Promise<Record<string, string>> {
  return page
    .locator("form", { has: page.getByRole("button", { name: "Authorize" }) })
    .evaluate((form: HTMLFormElement, more) => ({ ...Object.fromEntries(new FormData(form) as never), ...more }), extra);
}
