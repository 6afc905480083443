import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";

const ROOT = resolve(import.meta.dirname, "..");
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const USER_EMAIL = "urn:huggingface:token-type:user-email";

test("a job exchanges tokens for two members, each token has its member's rights, and the organization's log records the exchanges", async ({
  demo,
  page,
}) => {
  const { clientId, clientSecret } = demo.exchangeApp;
  const env = { ...process.env, ISSUER: demo.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  const { stdout } = await promisify(execFile)("npm", ["start", "--silent", "--workspace", "examples/org-token-exchange"], {
    cwd: ROOT,
    env,
  });
  // The message of a refusal is not compared, because it may change.
  const said = stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  ").trim().split("  ").slice(0, 3).join(" · "));
  const [ofMara, ofJonas] = [
    said.findIndex((line) => line.startsWith("mara@")),
    said.findIndex((line) => line.startsWith("jonas@")),
  ];
  expect(said[ofMara]).toBe("mara@example.test · 8 hours · openid profile read-repos write-repos manage-repos");
  const of = (from: number, count: number) => said.slice(from + 1, from + 1 + count).map((line) => line.replace(/ \d{3}.*/, ""));
  expect(of(ofMara, 5)).toEqual([
    "may · say whose token it is ·",
    "may · create a private repository of the organization ·",
    "may · read it ·",
    "may · write to it ·",
    "may not · create a repository of the member's own ·",
  ]);
  expect(of(ofJonas, 4)).toEqual([
    "may · say whose token it is ·",
    "may · read it ·",
    "may not · write to it ·",
    "may not · create a repository of the member's own ·",
  ]);
  expect(said.at(-2)).toMatch(/^may · delete it again/);

  await enter(page, { username: "aiko", password: demo.password });
  await page.goto("/organizations/tidepool/settings/applications");
  await page.getByRole("link", { name: "Night Heron" }).click();
  await page.getByRole("link", { name: "Permissions" }).click();
  const recent = page.getByRole("list", { name: "Latest exchanges" });
  await expect(recent.getByRole("listitem").filter({ hasText: "mara@example.test" }).first()).toContainText("read-repos");
  await expect(recent.getByRole("listitem").filter({ hasText: "jonas@example.test" }).first()).toBeVisible();
  await page.getByRole("link", { name: "View all exchanges in the audit log" }).click();
  const entries = page.getByRole("list", { name: /Entries/ });
  await expect(entries.getByRole("listitem").filter({ hasText: "issued a token for" }).first()).toBeVisible();

  const { token = "" } = await admin(demo, "token", "create", "--user", "aiko", "--scopes", "manage-repos", "--name", "Export");
  const query = `q=${encodeURIComponent("type:oauth_token.exchange")}&format=json`;
  const answer = await fetch(`${demo.origin}/api/organizations/tidepool/audit-log/export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  const exported: { type: string; data: { subject: string }; oauth: { clientId: string }; ip: string }[] = await answer.json();
  for (const email of ["mara@example.test", "jonas@example.test"]) {
    const entry = exported.find(({ data }) => data.subject === email);
    expect(entry).toMatchObject({ type: "oauth_token.exchange", oauth: { clientId }, ip: expect.stringMatching(/./) });
  }
});

test("an organization's app is set up for token exchange, gets its first token, and is unbound", async ({
  demo,
  page,
  person,
  another,
  browser,
}) => {
  test.slow();
  const org = `guild-${person.username}`;
  const made = ["--name", org, "--full-name", "Lamp Guild", "--owner", person.username, "--plan", "enterprise"];
  await admin(demo, "org", "create", ...made);
  await admin(demo, "org", "add-member", "--org", org, "--user", another.username, "--role", "read");
  await enter(page, person);

  await page.goto(`/organizations/${org}/settings/applications/new`);
  await page.getByLabel("Name", { exact: true }).fill("Lamp Lighter");
  await page.getByRole("radio", { name: /Confidential/ }).check();
  await page.getByRole("checkbox", { name: /Bind the app to/ }).check();
  await page.getByRole("checkbox", { name: /^Read your repositories/ }).check();
  await page.getByRole("button", { name: "Create app" }).click();
  const shown = page.locator("code", { hasText: "kh_secret_" });
  await expect(shown).toBeVisible();
  const secret = (await shown.textContent()) ?? "";
  await page.getByRole("link", { name: "Go to the app" }).click();
  const clientId =
    (await page
      .locator("code", { hasText: /^[0-9a-f]{8}-[0-9a-f-]{27}$/ })
      .first()
      .textContent()) ?? "";

  await page.getByRole("link", { name: "Permissions" }).click();
  const needs = page.getByRole("list", { name: "Requirements for token exchange" });
  await expect(needs.getByRole("listitem").filter({ hasText: "Missing" })).toHaveCount(1);
  await needs.getByRole("button", { name: "Ask the operator" }).click();
  await expect(page.getByText("Request sent")).toBeVisible();
  await expectAccessible(page);

  const exchange = async (email: string) => {
    const body = new URLSearchParams({ grant_type: GRANT, subject_token: email, subject_token_type: USER_EMAIL });
    const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
    const answer = await fetch(`${demo.origin}/oauth/token`, { method: "POST", headers: { authorization }, body });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await exchange(another.email)).toMatchObject({ status: 401, body: { error: "invalid_client" } });

  const office = await browser.newContext({ baseURL: demo.origin });
  const desk = await office.newPage();
  await enter(desk, { username: "opal", password: demo.password });
  await desk.goto(`/admin/apps?state=asks_token_exchange&search=${clientId}`);
  await desk.getByText("Allow token exchange", { exact: true }).click();
  await expectAccessible(desk);
  await desk.getByRole("button", { name: "Allow Lamp Lighter" }).click();
  await expect(desk.getByText("Token exchange allowed.")).toBeVisible();
  await office.close();

  const { status, body } = await exchange(another.email.toUpperCase());
  expect([status, body.scope]).toEqual([200, "openid profile read-repos"]);
  const whoami = () => fetch(`${demo.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${body.access_token}` } });
  expect((await (await whoami()).json()).orgs.map(({ name }: { name: string }) => name)).toEqual([org]);
  expect(await exchange("nobody@example.test")).toMatchObject({ status: 400, body: { error: "invalid_grant" } });

  await page.reload();
  await expect(needs.getByText("Missing")).toHaveCount(0);
  const recent = page.getByRole("list", { name: "Latest exchanges" });
  await expect(recent.getByRole("listitem").first()).toContainText("no member has this e-mail address");
  await expect(recent.getByRole("listitem").nth(1)).toContainText(another.email);
  await page.getByLabel("Hours", { exact: true }).fill("721");
  await page.getByRole("button", { name: "Save duration" }).click();
  await expect(page.getByText("Enter a duration from 1 hour to 720 hours")).toBeVisible();
  await page.getByLabel("Hours", { exact: true }).fill("24");
  await page.getByRole("button", { name: "Save duration" }).click();
  await expect(page.getByText("Existing tokens keep their expiry.")).toBeVisible();
  await expect.poll(async () => (await exchange(another.email)).body.expires_in).toBe(86_400);
  await expectAccessible(page);

  await page.getByText("Unbind", { exact: true }).click();
  await page.getByRole("button", { name: "Unbind Lamp Lighter" }).click();
  await expect(page.getByText("all its exchanged tokens are revoked")).toBeVisible();
  expect((await whoami()).status).toBe(401);
  expect(await exchange(another.email)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
});
