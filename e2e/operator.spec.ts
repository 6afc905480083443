import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { Administration } from "./support/administration.ts";
import { enter } from "./support/enter.ts";
import { underMouse } from "./support/permissions-modal.ts";

async function startProvider() {
  const keys: (string | undefined)[] = [];
  const server = createServer(async (req, res) => {
    keys.push(req.headers.authorization);
    const { model } = JSON.parse((await text(req)) || "{}") as { model?: string };
    const usage = { prompt_tokens: 1_200, completion_tokens: 34, total_tokens: 1_234 };
    const answer = { model, choices: [{ index: 0, message: { role: "assistant", content: "At six." } }], usage };
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify(req.method === "GET" ? { data: [{ id: "upstream-tide" }] } : answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, stop: () => server.close() };
}

test("an operator connects a model provider, a user's token queries a model, and both see the usage", async ({
  page,
  demo,
  person,
  browser,
}) => {
  const provider = await startProvider();
  const name = `Next door ${person.username}`;
  const model = `tide/${person.username}`;
  const administration = new Administration(page);
  await administration.enter(demo);
  await page.goto("/admin/inference");
  const form = page.getByRole("form", { name: "New provider" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Base URL").fill(provider.url);
  await form.getByLabel("API key").fill("sk-never-shown-again-4711");
  await form.getByRole("button", { name: "Add provider" }).click();
  await expect(form.getByText("Use https: otherwise, prompts and the key travel unencrypted")).toBeVisible();
  await expect(form.getByLabel("Name")).toHaveValue(name);
  await expect(form.getByLabel("API key")).toHaveValue("");
  await form.getByLabel("API key").fill("sk-never-shown-again-4711");
  await form.getByRole("checkbox", { name: "The provider is in your own network" }).check();
  await form.getByRole("button", { name: "Add provider" }).click();
  await administration.expectNotice("Provider added");

  const section = page.getByRole("region", { name });
  await section.getByRole("button", { name: "Test the connection" }).click();
  await expect(section.getByText("It lists upstream-tide.")).toBeVisible();
  await section.getByText("Offer a model", { exact: false }).first().click();
  await section.getByLabel("Name", { exact: true }).fill(model);
  await section.getByLabel("Its name at the provider").fill("upstream-tide");
  await section.getByRole("button", { name: "Offer model" }).click();
  await administration.expectNotice("Model added");
  await expect(section.getByRole("list").getByText(model, { exact: true })).toBeVisible();
  await expect(page.getByText("sk-never-shown-again")).toHaveCount(0);
  await expectAccessible(page);

  const token = await admin<{ token: string }>(demo, "token", "create", "--user", person.username, "--scopes", "inference-api");
  const answer = await fetch(`${demo.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "When is high water?" }] }),
  });
  expect(await answer.json()).toMatchObject({ model, choices: [{ message: { content: "At six." } }] });
  expect(provider.keys).toEqual(["Bearer sk-never-shown-again-4711", "Bearer sk-never-shown-again-4711"]);

  const theirs = await (await browser.newContext({ baseURL: demo.origin })).newPage();
  await enter(theirs, person);
  await theirs.goto("/settings/inference");
  await expect(theirs.getByText("1,234 of 1,000,000")).toBeVisible();
  await expect(theirs.getByRole("list", { name: "Usage by app" })).toContainText("1,200 in · 34 out");
  await expectAccessible(theirs);
  await theirs.context().close();

  await page.goto("/admin/inference");
  await expect(page.getByRole("list", { name: "Top users" })).toContainText(person.username);
  await section.getByText("Delete the provider", { exact: true }).click();
  await section.getByRole("button", { name: `Delete ${name}` }).click();
  await administration.expectNotice("Provider deleted");
  provider.stop();
});

test("an operator finds an account, signs it out, disables, enables, promotes and deletes it", async ({
  page,
  demo,
  person,
  browser,
}) => {
  const theirs = await (await browser.newContext({ baseURL: demo.origin })).newPage();
  await enter(theirs, person);
  const administration = new Administration(page);
  await administration.enter(demo);
  await page.goto("/admin");
  await expect(page.getByRole("list", { name: "Processes" })).toContainText("Worker");
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name: "Users" }).click();
  await page.getByLabel("Beginning of a name or an e-mail address, or an ID").fill(person.email.slice(0, -5).toUpperCase());
  await page.getByRole("button", { name: "Search" }).click();
  const found = page.getByRole("list", { name: "Users" }).getByRole("listitem");
  await expect(found).toHaveCount(1);
  await expectAccessible(page);
  await found.getByRole("link", { name: person.username }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(person.username);
  await expect(page.getByRole("list", { name: "Sessions" }).getByRole("listitem")).toHaveCount(1);
  await expectAccessible(page);

  const act = async (trigger: string, confirm: string, notice: string) => {
    await page.getByText(trigger, { exact: true }).click();
    await page.getByRole("button", { name: confirm }).click();
    await administration.expectNotice(notice);
  };
  await act("End all sessions", `End all sessions of ${person.username}`, "All sessions of the account ended");
  await theirs.goto("/settings/profile");
  await theirs.waitForURL(/\/login/);
  await act("Disable the account", `Disable ${person.username}`, "Account disabled");
  await (await underMouse(page.getByRole("button", { name: `Enable ${person.username}` }))).click();
  await administration.expectNotice("Account enabled");
  await act("Make operator", `Make ${person.username} an operator`, "is now an operator");
  await enter(theirs, person);
  expect((await theirs.request.get("/admin")).status()).toBe(200);
  await act("Remove operator", `Remove ${person.username} as an operator`, "no longer an operator");
  expect((await theirs.request.get("/admin")).status()).toBe(404);
  await page.getByText("Delete the account", { exact: true }).click();
  await page.getByLabel(/^Type .* to confirm/).fill("somebody");
  await page.getByRole("button", { name: `Delete ${person.username}` }).click();
  await expect(page.getByText(`Type ${person.username} to confirm.`)).toBeVisible();
  await page.getByLabel(/^Type .* to confirm/).fill(person.username);
  await page.getByRole("button", { name: `Delete ${person.username}` }).click();
  await page.waitForURL(/\/admin\/users\?notice=deleted/);
  await administration.expectNotice("Account deleted");
  await theirs.goto("/settings/profile");
  await theirs.waitForURL(/\/login/);
  await theirs.context().close();
});

test("an operator sends a test email, checks an outbound URL, and rotates the signing keys", async ({ page, demo }) => {
  const administration = new Administration(page);
  await administration.enter(demo);
  await page.goto("/admin/mail");
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.waitForURL(/test=[0-9a-f]{24}/);
  await expect(async () => {
    await page.reload();
    await expect(page.getByText(/The message to .* was kept, not sent/)).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expectAccessible(page);

  await page.goto("/admin/outbound");
  await page.getByLabel("URL", { exact: true }).fill("http://[::ffff:10.0.0.1]:8080/in");
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText(/^Refused/).first()).toBeVisible();
  await expect(page.getByText(/10\.0\.0\.0\/8/).last()).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("URL", { exact: true }).fill("ftp://example.com");
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText("the URL is not a valid http or https URL")).toBeVisible();

  await page.goto("/admin/keys");
  await page.getByText("Rotate the keys", { exact: true }).click();
  await page.getByRole("button", { name: "Create new signing keys" }).click();
  await administration.expectNotice("New keys are published");
  await expect(page.getByRole("list", { name: "Signing keys" }).getByText("Next", { exact: true }).first()).toBeVisible();
  await expectAccessible(page);
});
