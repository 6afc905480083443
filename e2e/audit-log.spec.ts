import { readFile } from "node:fs/promises";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";

test("an administrator reads the log, searches it, opens one entry, and cannot export it without a plan", async ({
  page,
  member,
  demo,
}) => {
  test.slow();
  const [{ name: org }] = member.organizations;
  await admin(
    demo,
    "app",
    "create",
    "--org",
    org,
    "--name",
    "Paper Lantern",
    "--redirect-uri",
    "https://lantern.example/callback",
    "--scopes",
    "openid",
  );
  await enter(page, member);
  await page.goto(`/organizations/${org}`);
  await page.getByRole("navigation").getByRole("link", { name: "Audit log" }).click();
  await page.waitForURL("**/audit-log");
  const entries = page.getByRole("list", { name: "Entries, newest first" }).getByRole("listitem");
  await expect(entries.filter({ hasText: "The system created the app Paper Lantern" })).toContainText("oauth_app.create");
  await expectAccessible(page);

  await page.getByLabel("About").selectOption("OAuth apps");
  await page.getByLabel(/^Words/).fill("author:nobody-of-that-name");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.getByText("No entries match")).toBeVisible();
  await expect(page.getByLabel("About")).toHaveValue("oauth_app");
  await page.getByLabel(/^Words/).fill("since:yesterday");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.getByText("Enter since with a date")).toBeVisible();
  await page.getByLabel(/^Words/).fill("author:system");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(entries).toHaveCount(1);

  await page.getByRole("link", { name: "The system created the app Paper Lantern" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The system created the app Paper Lantern");
  await expect(async () => {
    await page.reload();
    await expect(page.getByText(/^Number \d+/)).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expectAccessible(page);

  await page.getByRole("link", { name: "Audit log", exact: true }).first().click();
  await expect(page.getByText("With the Team, Enterprise, Plus or Academia plan")).toBeVisible();
  expect((await page.request.get(`/organizations/${org}/audit-log/export`)).status()).toBe(403);
});

test("the operator exports everything and the export is recorded, and other users get a 404", async ({ page, demo, person }) => {
  await enter(page, person);
  for (const path of ["/admin/audit-log", "/admin/audit-log/export", "/organizations/tidepool/audit-log"]) {
    expect([path, (await page.request.get(path)).status()]).toEqual([path, 404]);
  }
  await page.goto("/settings/security-log");
  await expect(page.getByRole("listitem").filter({ hasText: `${person.username} signed in` })).toBeVisible();
  await expectAccessible(page);

  await enter(page, { username: "opal", password: demo.password });
  await page.goto("/admin/audit-log");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as CSV" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("audit-log-installation.csv");
  expect(await readFile(await file.path(), "utf8")).toMatch(/^id,created_at,type,message/);
  await page.reload();
  // The entry may not be the latest, because other users act at the same time.
  await expect(page.getByRole("listitem").filter({ hasText: "opal exported the audit log as csv" }).first()).toBeVisible();
  await expectAccessible(page);
  expect(await admin<{ ok: boolean }>(demo, "audit", "verify")).toMatchObject({ ok: true, flaw: null });
});
