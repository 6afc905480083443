import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";
import { makeToken, makeTree } from "./support/git-repository.ts";
import { hubClient } from "./support/hub.ts";
import { underMouse } from "./support/permissions-modal.ts";
import { WebhookReceiver } from "./support/webhook-receiver.ts";

const PUSH = { scope: "repo.content", action: "update" };

const rows = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
const panel = (page: Page) => page.getByRole("complementary", { name: /^[a-z]+(\.[a-z]+)+$/ });

test("S122 S123 S124 S125 a push arrives signed and is shown live, and a refused delivery is retried and replayed", async ({
  page,
  demo,
  person,
}) => {
  test.slow();
  await using receiver = await WebhookReceiver.start();
  const { name, push } = await makeTree(demo, person);
  await enter(page, person);

  await page.goto("/settings/profile");
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: "New webhook" }).click();
  const watched = page.getByRole("combobox", { name: "Watched" });
  const url = page.getByRole("textbox", { name: "URL" });
  await watched.fill("no-such-thing");
  await page.getByRole("radio", { name: "Selected events" }).check();
  for (const box of await page.getByRole("group", { name: "Repositories" }).getByRole("checkbox").all()) await box.uncheck();
  for (const box of await page.getByRole("group", { name: "Discussions" }).getByRole("checkbox").all()) await box.uncheck();
  await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
  await expect(watched).toHaveAccessibleDescription(/Put the type before no-such-thing/);
  await expect(watched).toHaveValue("no-such-thing");
  await expect(url).toHaveAccessibleDescription(/Enter the/);
  await expect(page.getByText("Select at least one event.")).toBeVisible();
  await watched.fill(name.slice(0, -2));
  await page.getByRole("option", { name }).click();
  await expect(page.getByRole("list", { name: "Selected" })).toContainText(name);
  await url.fill(receiver.url);
  await expect(url).not.toHaveAttribute("aria-invalid");
  await page.getByRole("checkbox", { name: "Content pushed" }).check();
  await page.getByRole("textbox", { name: "Name" }).fill("Tide gauge");
  await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
  const secret = (await page.locator("code", { hasText: "whsec_" }).textContent()) ?? "";
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(panel(page)).toContainText("Delivered.");
  const tested = await receiver.next(0, secret, PUSH);
  expect(tested.headers["x-webhook-test"]).toBe("true");
  expect(await page.content()).not.toContain(secret);

  await push("high");
  const pushed = await receiver.next(1, secret, PUSH);
  const pushes = rows(page).filter({ hasText: name, hasNotText: "test" });
  const first = pushes.first();
  await expect(first).toContainText("200");
  await first.getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`delivery=${pushed.id}`));
  for (const part of ["DNS", "Connect", "Waiting", "Body"])
    await expect(panel(page).getByText(part, { exact: true }).first()).toBeVisible();
  await expect(panel(page)).toContainText('"taken": true');
  await panel(page).getByText("Raw", { exact: true }).click();
  await expect(panel(page).getByRole("region", { name: "request body as sent" })).toHaveText(pushed.body);
  await panel(page).getByText("Verify", { exact: true }).click();
  const snippet = (await panel(page).getByRole("region", { name: "Node snippet" }).textContent()) ?? "";
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  expect(execFileSync("node", ["--input-type=module", "--eval", snippet], { env, encoding: "utf8" })).toContain("is right");
  await expectAccessible(page);

  receiver.status = 500;
  await push("low");
  const refused = await receiver.next(2, secret, PUSH);
  const second = pushes.first();
  await expect(second).toContainText("again in");
  receiver.status = 200;
  await second.getByRole("link").click();
  await expect(panel(page)).toContainText(/Next attempt in \d+|Delivered after/);
  const tryNow = panel(page).getByRole("button", { name: "Try now" });
  if (await tryNow.isVisible()) await tryNow.click();
  await expect(panel(page)).toContainText(/Delivered after [23] attempts|Delivered after \d+/);
  const again = receiver.received.at(-1);
  expect([again?.id, again?.body]).toEqual([refused.id, refused.body]);
  await expect(panel(page)).toContainText("Every attempt has the same payload");
  await panel(page).getByText("Changes since attempt 1").click();
  const changes = panel(page).getByRole("region", { name: "Response of attempt 2, compared with attempt 1" });
  await expect(changes).toContainText("-status: 500");
  await expect(changes).toContainText("+status: 200");

  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();
  await expect(second.getByRole("link")).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`delivery=${pushed.id}`));
  await expect(panel(page).getByRole("heading", { level: 2 })).toBeFocused();
  await page.keyboard.press("k");
  await expect(page).toHaveURL(new RegExp(`delivery=${refused.id}`));
  await page.keyboard.press("Escape");
  await expect(panel(page)).toBeHidden();

  const before = receiver.received.length;
  await page.getByRole("searchbox", { name: "Search repository, event or ID" }).fill(name);
  await expect(page).toHaveURL(/text=/);
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  for (const row of await rows(page).filter({ hasText: "test" }).all()) await row.getByRole("checkbox").uncheck();
  await expect(page.getByRole("checkbox", { name: "Select all on this page" })).not.toBeChecked();
  await page.getByRole("button", { name: "Replay selected" }).click();
  await expect(page.getByRole("list", { name: "Replays" })).toContainText("Replay of 2 deliveries");
  await expect
    .poll(() =>
      receiver.received
        .slice(before)
        .map(({ id }) => id)
        .sort(),
    )
    .toEqual([pushed.id, refused.id].sort());
  await expect(page.getByRole("list", { name: "Replays" })).toContainText("2 delivered, 0 failed");
  await page.reload();
  await expect(page.getByRole("list", { name: "Replays" })).toContainText("2 delivered, 0 failed");

  await page.getByLabel("Status").selectOption("Failed");
  await expect(page.getByText("No matching deliveries")).toBeVisible();
  await page.getByRole("link", { name: "Show all" }).first().click();
  await expect(rows(page)).toHaveCount(3);
  await page.goto(`/${name}`);
  await page.getByRole("link", { name: "Tide gauge" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Tide gauge");
  await expect(page.getByText(receiver.url, { exact: true })).toBeVisible();
});

test("S133 a webhook with a job runs the job, whose log shows the payload", async ({ page, demo, person }) => {
  test.slow();
  const { name, push } = await makeTree(demo, person);
  const hub = await hubClient(demo, person, "jobs");
  const { id } = await hub.send<{ id: string }>("POST", `/api/jobs/${person.username}`, {
    dockerImage: "debian:stable-slim",
    command: ["sh", "-c", 'echo "told: $WEBHOOK_PAYLOAD"'],
    environment: {},
    flavor: "cpu-basic",
  });
  await enter(page, person);
  await page.goto(`/settings/jobs/${id}`);
  await page.getByRole("link", { name: "Run on events" }).click();
  await expect(page.getByRole("radio", { name: "Job" })).toBeChecked();
  await expect(page.getByRole("combobox", { name: "Job to copy" })).toHaveValue(id);
  await page.getByRole("combobox", { name: "Watched" }).fill(`model:${name}`);
  await page.getByRole("radio", { name: "No secret" }).check();
  await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
  await expect(page.getByText("Webhook created.")).toBeVisible();
  await push("high");
  const row = rows(page).filter({ hasText: name }).first();
  await expect(row).toContainText("done", { timeout: 60_000 });
  await row.getByRole("link").click();
  await panel(page).getByRole("link", { name: "Job and log" }).click();
  await expect(page.getByText(/told: .*"repo.content".*"webhook":/)).toBeVisible();
  // A webhook's job cannot be run again, but its delivery can be replayed.
  await expect(page.getByRole("button", { name: "Run again" })).toHaveCount(0);
  await page.getByRole("link", { name: "Go to the delivery" }).click();
  await expect(panel(page).getByRole("button", { name: "Replay" })).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("an organization's webhook is created, tested, disabled, enabled and deleted", async ({ page, demo, member }) => {
    test.slow();
    await using receiver = await WebhookReceiver.start();
    const [{ name: org, fullName }] = member.organizations;
    await enter(page, member);
    await page.goto(`/organizations/${org}`);
    await page.getByRole("navigation", { name: fullName }).getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("link", { name: "New webhook" }).click();
    await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
    await page.getByRole("combobox", { name: "Watched" }).fill(`org:${org}, user:nobody-${org}`);
    await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
    await expect(page.getByText(`There is no user nobody-${org}`)).toBeVisible();
    await page.getByRole("checkbox", { name: `Keep user:nobody-${org}` }).uncheck();
    await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
    const secret = (await page.locator("code", { hasText: "whsec_" }).textContent()) ?? "";
    await page.getByRole("button", { name: "Send a test" }).click();
    await expect(panel(page)).toContainText("Delivered.");
    await receiver.next(0, secret, PUSH);
    const address = page.url().replace(/\?.*/, "");

    await page.getByRole("button", { name: "Disable" }).click();
    await expect(page.getByText(/Disabled manually/)).toBeVisible();
    const token = await makeToken(demo, member);
    const make = async (name: string) => {
      const body = JSON.stringify({ name, type: "model", organization: org });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      expect((await fetch(`${demo.origin}/api/repos/create`, { method: "POST", headers, body })).ok).toBe(true);
    };
    await make("untold");
    await page.getByRole("button", { name: "Enable" }).click();
    await expect(page.getByText("Enabled. Deliveries that were on hold continue.")).toBeVisible();
    await make("told");
    const told = await receiver.next(1, secret, { scope: "repo", action: "create" });
    expect(JSON.parse(told.body)).toMatchObject({ repo: { name: `${org}/told` } });

    await page.goto(`${address}?text=told&event=repo.create`);
    await page.getByText("Save view…").click();
    await page.getByRole("button", { name: "Save view" }).click();
    await expect(page.getByText("Fill this in.")).toBeVisible();
    await page.getByRole("textbox", { name: "Name" }).fill("Creations");
    await page.getByRole("button", { name: "Save view" }).click();
    const view = page.getByRole("navigation", { name: "Saved views" }).getByRole("link", { name: "Creations" });
    await expect(view).toBeVisible();
    await page.goto(address);
    await view.click();
    await expect(page).toHaveURL(`${address}?event=repo.create&text=told`);
    await expect(view).toHaveAttribute("aria-current", "true");
    await page.getByRole("button", { name: "Delete view" }).click();
    await expect(view).toBeHidden();

    await rows(page).first().getByRole("link").click();
    await panel(page).getByRole("button", { name: "Replay" }).click();
    await expect(panel(page)).toContainText("Delivered after 2 attempts.");
    expect(receiver.received.map(({ id }) => id).filter((id) => id === told.id)).toHaveLength(2);

    // A new target must not get the secret without the user's decision.
    await page.goto(`${address}/edit`);
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.2:9/other");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Enter the current secret again or a new one, or remove the secret.")).toBeVisible();
    await page.goto(address);

    await page.getByText("Delete", { exact: true }).click();
    await expect(page.getByText(`Delete the webhook ${receiver.url}?`)).toBeVisible();
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await expect(page.getByText("Webhook deleted.")).toBeVisible();
    expect((await page.request.get(address)).status()).toBe(404);
    await make("after");
    await page.waitForTimeout(2_000);
    expect(receiver.received.filter(({ body }) => body.includes(`${org}/after`))).toEqual([]);
  });
});

test("S114 webhooks and schedules stop with their revoked token, and have the user's own rights when enabled again", async ({
  page,
  demo,
  person,
}) => {
  test.slow();
  await using receiver = await WebhookReceiver.start();
  const { token = "" } = await admin(demo, "token", "create", "--user", person.username, "--scopes", "webhooks jobs");
  const send = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(demo.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as { webhook: { id: string; createdBy: { type: string } } };
  };
  const watched = [{ type: "user", name: person.username }];
  const { webhook } = await send("/api/settings/webhooks", { url: receiver.url, watched });
  expect(webhook.createdBy.type).toBe("token");
  const jobSpec = { dockerImage: "debian", command: ["true"], flavor: "cpu-basic" };
  await send(`/api/scheduled-jobs/${person.username}`, { jobSpec, schedule: "@yearly" });

  await enter(page, person);
  await page.goto(`/settings/webhooks/${webhook.id}`);
  await expect(page.getByText("Created or last changed with the token")).toBeVisible();
  await page.goto("/settings/tokens");
  await page.getByText("Revoke", { exact: true }).click();
  const question = page.getByRole("listitem").filter({ hasText: "Revoking also stops what this token created" });
  await expect(question.first()).toContainText(`Webhook: ${new URL(receiver.url).origin}`);
  await expect(question.first()).toContainText("Schedule: debian");
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await expect(page.getByText("Token revoked.")).toBeVisible();

  await expect(async () => {
    await page.goto(`/settings/webhooks/${webhook.id}`);
    await expect(page.getByText("Access ended", { exact: true })).toBeVisible({ timeout: 500 });
  }).toPass();
  await expectAccessible(page);
  await page.goto("/settings/jobs/schedules");
  await expect(page.getByText("Suspended", { exact: true })).toBeVisible();
  await page.goto(`/settings/webhooks/${webhook.id}`);
  await page.getByRole("button", { name: "Enable" }).click();
  await expect(page.getByText("Enabled. Deliveries that were on hold continue.")).toBeVisible();
  await expect(page.getByText("Created or last changed with the token")).toBeHidden();
});
