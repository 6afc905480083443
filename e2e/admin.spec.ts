import { randomBytes } from "node:crypto";
import { expect, test } from "./fixtures.ts";
import { admin } from "./support/admin.ts";
import { Administration } from "./support/administration.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { underMouse } from "./support/permissions-modal.ts";

const REDIRECT_URI = "https://app.example.test/callback";

async function makeApp(demo: Demo, owner: string): Promise<{ name: string; clientId: string }> {
  const name = `Fern ${randomBytes(4).toString("hex")}`;
  const scopes = ["--scopes", "openid profile", "--redirect-uri", REDIRECT_URI];
  const { client_id } = await admin<{ client_id: string }>(demo, "app", "create", "--name", name, "--owner", owner, ...scopes);
  return { name, clientId: client_id };
}

function authorizePath(clientId: string): string {
  const challenge = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };
  const query = { client_id: clientId, redirect_uri: REDIRECT_URI, response_type: "code", scope: "openid profile", ...challenge };
  return `/oauth/authorize?${new URLSearchParams(query)}`;
}

test("S136 the operators' pages are 404 for all other users", async ({ page, person }) => {
  await enter(page, person);
  const ofOperators = [
    "",
    "/apps",
    "/hosts",
    "/hosts/block?host=example.com",
    "/registration",
    "/users",
    "/mail",
    "/outbound",
    "/keys",
  ];
  for (const path of [...ofOperators, "/inference", `/users/${"a".repeat(24)}`].map((each) => `/admin${each}`)) {
    const answer = await page.request.get(path);
    expect(answer.status(), path).toBe(404);
    expect(await answer.text(), path).not.toContain('aria-label="Administration"');
  }
  await page.goto("/admin/users");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Page not found");
  await expect(page.getByRole("navigation", { name: "Administration" })).toHaveCount(0);
  await page.getByRole("button", { name: /^Account menu/ }).click();
  await expect(page.getByRole("link", { name: "Connected apps" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Administration" })).toHaveCount(0);
});

test("an operator finds the operators' pages in the account menu, and a signed-out visitor must sign in first", async ({
  page,
  demo,
}) => {
  await page.goto("/admin");
  await page.waitForURL("**/login?next=%2Fadmin");
  await new Administration(page).enter(demo);
  const released = Promise.withResolvers<void>();
  await page.route("**/_next/static/**/*.js", (route) => released.promise.then(() => route.continue()));
  await page.goto("/", { waitUntil: "commit" });
  await page.getByRole("button", { name: /^Account menu/ }).click();
  released.resolve();
  await page.waitForLoadState("networkidle");
  await page.getByRole("link", { name: "Administration" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
});

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("users see at consent that an operator verified an app, and blocking the app ends its access", async ({
      page,
      demo,
      person,
      browser,
    }) => {
      const app = await makeApp(demo, person.username);
      const administration = new Administration(page);
      await administration.enter(demo);
      const row = await administration.findApp(app.name);
      await expect(row).toHaveCount(1);
      await row.getByRole("link", { name: "Review" }).click();
      await expect(row).toContainText(REDIRECT_URI);
      await (await underMouse(row.getByRole("button", { name: "Mark as verified" }))).click();
      await administration.expectNotice("App verified");
      await expect(row).toContainText("Verified");

      const context = await browser.newContext({ baseURL: demo.origin, javaScriptEnabled: hasScripts });
      const theirs = await context.newPage();
      await enter(theirs, person);
      await theirs.goto(authorizePath(app.clientId));
      await expect(theirs.getByText("Verified by Keyhook")).toBeVisible();
      const leaves = theirs.waitForRequest((request) => request.url().startsWith(`${REDIRECT_URI}?code=`));
      await (await underMouse(theirs.getByRole("button", { name: "Authorize" }))).click();
      await leaves;

      await administration.findApp(app.name);
      await row.getByText("Block", { exact: true }).click();
      await expect(row).toContainText("the access that 1 person has given it is revoked immediately");
      await administration.blockApp(app.name);
      await expect(row).toContainText("Blocked");
      const answer = await theirs.goto(authorizePath(app.clientId));
      expect(answer?.status()).toBe(400);

      await (await underMouse(row.getByRole("button", { name: "Unblock" }))).click();
      await administration.expectNotice("unblocked");
      await theirs.goto(authorizePath(app.clientId));
      await expect(theirs.getByRole("heading", { level: 1 })).toHaveText(`${app.name} wants to access your Keyhook account`);
      await context.close();
    });

    test("rules for hosts are added and removed, and the consequences of a block are shown first", async ({ page, demo }) => {
      const host = `h${randomBytes(4).toString("hex")}.example`;
      // Both variants of this story, with and without JavaScript, may run at the same time.
      const reported = `reported, ${host}`;
      const administration = new Administration(page);
      await administration.enter(demo);
      await page.goto("/admin/hosts");
      await administration.addRule({ host: "no host", note: "why not", rule: "Allow" });
      await expect(page.getByLabel("Host", { exact: true })).toHaveAccessibleDescription(/Enter a host name/);
      await expect(page.getByLabel("Host", { exact: true })).toHaveValue("no host");
      await expect(page.getByLabel("Note")).toHaveValue("why not");

      await administration.addRule({ host: `https://Agents.${host}/some/page`, note: "our own agents", rule: "Allow" });
      await administration.expectNotice("Rule added");
      await expect(administration.rule(`agents.${host}`)).toContainText(/Allowed.*our own agents/s);

      await administration.beginBlockingHost(host, reported);
      await expect(page.getByText("No apps of this host have been seen, so nobody loses access.")).toBeVisible();
      await expect(page.getByLabel("Note")).toHaveValue(reported);
      await page.getByRole("link", { name: "Cancel" }).click();
      await expect(administration.rule(reported)).toHaveCount(0);
      await administration.beginBlockingHost(host, reported);
      await administration.confirmBlockingHost();
      await expect(administration.rule(reported)).toContainText(/Blocked.*by opal/s);

      for (const name of [`agents.${host}`, reported]) await administration.removeRule(name);
      await expect(page.getByText(host)).toHaveCount(0);
    });
  });
}

test("programs may register themselves while the switch is on", async ({ page, demo }) => {
  const register = () => page.request.post("/oauth/register", { data: { redirect_uris: [REDIRECT_URI], client_name: "Burr" } });
  await new Administration(page).enter(demo);
  await page.goto("/admin/registration");
  expect((await register()).status()).toBeGreaterThanOrEqual(400);
  await page.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByRole("status").filter({ hasText: "can now register themselves" })).toBeVisible();
  expect((await register()).status()).toBe(201);
  await page.goto("/admin/registration");
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Apps can no longer register themselves" })).toBeVisible();
  expect((await register()).status()).toBeGreaterThanOrEqual(400);
  await page.getByRole("link", { name: /registered/ }).click();
  await expect(page.getByRole("list", { name: "OAuth apps" }).getByRole("listitem").first()).toContainText("Burr");
  await expect(page.getByRole("list", { name: "OAuth apps" })).toContainText("Registered itself");
});

test("an invalid page number still shows a list, and a search without results leads back to the list", async ({ page, demo }) => {
  await new Administration(page).enter(demo);
  for (const at of ["2", "99999999999999999999", "-1", "x"]) {
    await page.goto(`/admin/apps?page=${at}`);
    await expect(page.getByRole("list", { name: "OAuth apps" })).toBeVisible();
    expect((await page.goto(`/admin/hosts?page=${at}&rules=${at}&search=%00&notice=x`))?.status()).toBeLessThan(500);
  }
  await page.goto(`/admin/apps?search=${randomBytes(8).toString("hex")}`);
  await page.getByRole("link", { name: "Show all apps" }).click();
  await expect(page.getByRole("list", { name: "OAuth apps" })).toBeVisible();
});
