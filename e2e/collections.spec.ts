import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";

test("a user creates a collection, fills it, orders it by keyboard and deletes it", async ({ page, demo, person, another }) => {
  const hub = await hubClient(demo, person, "manage-repos");
  for (const [name, type, isPrivate] of [
    ["tides", "model", false],
    ["moons", "dataset", false],
    ["secrets", "model", true],
  ] as const) {
    await hub.send("POST", "/api/repos/create", { name, type, private: isPrivate });
  }
  await enter(page, person);
  await page.goto("/collections");
  await page.getByRole("link", { name: "New collection" }).click();
  // The search field of the previous page has the same label.
  await expect(page.getByRole("heading", { level: 1, name: "New collection" })).toBeVisible();
  await page.getByLabel("Title").fill("Of the sea");
  await page.getByLabel("Description").fill("What comes and goes");
  await page.getByLabel("Color").selectOption("green");
  await page.getByRole("button", { name: "Create collection" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Collection created" })).toBeVisible();

  const add = async (type: string, name: string, note = "") => {
    const form = page.getByRole("form", { name: "Add a repository" });
    await form.getByLabel("Type").selectOption(type);
    await form.getByLabel("Repository", { exact: true }).fill(name);
    await form.getByLabel("Note").fill(note);
    await form.getByRole("button", { name: "Add repository" }).click();
  };
  const rows = page.getByRole("list", { name: "Repositories" }).getByRole("listitem");
  await add("model", `${person.username}/tides`, "High and low");
  await expect(rows).toHaveCount(1);
  await add("model", `${person.username}/tides`);
  await expect(page.getByLabel("Repository", { exact: true })).toHaveAccessibleDescription(/already/);
  await add("dataset", `${person.username}/nothing`);
  await expect(page.getByLabel("Repository", { exact: true })).toHaveAccessibleDescription(/no dataset with this name/);
  await add("dataset", `${demo.origin}/datasets/${person.username}/moons`);
  await expect(rows).toHaveCount(2);
  await add("model", `${person.username}/secrets`);
  await expect(rows).toHaveCount(3);

  await page.getByRole("button", { name: `Move ${person.username}/moons up` }).focus();
  await page.keyboard.press("Enter");
  await expect(rows.first()).toContainText("moons");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Done" }).click();
  await expect(rows).toHaveText([/moons/, /tides[\s\S]*High and low/, /secrets[\s\S]*Private/]);
  await expectAccessible(page);
  const address = page.url();

  await enter(page, another);
  await page.goto(address.replace("of-the-sea", "anything"));
  await expect(page).toHaveURL(address);
  await expect(rows).toHaveText([/moons/, /tides/]);
  await expect(page.getByText("2 repositories")).toBeVisible();
  await expect(page.getByRole("link", { name: "Edit" })).toHaveCount(0);
  expect((await page.request.get(`${address}/edit`)).status()).toBe(404);
  await page.goto(`/collections?owner=${person.username}`);
  await expect(page.getByRole("list", { name: "Collections" }).getByRole("listitem")).toHaveCount(1);
  await expect(page.getByRole("link", { name: "New collection" })).toHaveCount(0);

  await enter(page, person);
  await page.goto(`${address}/edit`);
  await page.getByLabel("Only the owner").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("status").filter({ hasText: "Saved" })).toBeVisible();
  await enter(page, another);
  expect((await page.request.get(address)).status()).toBe(404);

  await enter(page, person);
  await page.goto(`${address}/edit`);
  await rows.filter({ hasText: "secrets" }).getByText("Remove", { exact: true }).click();
  await rows.filter({ hasText: "secrets" }).getByRole("button", { name: "Remove it" }).click();
  await expect(rows).toHaveCount(2);
  await page.getByText("Delete this collection").click();
  await page.getByRole("button", { name: "Delete the collection" }).click();
  await expect(page.getByText("No collections yet")).toBeVisible();
  expect((await page.request.get(address)).status()).toBe(404);
});

test("a repository is added to a collection from its own page", async ({ page, demo, person }) => {
  const hub = await hubClient(demo, person, "manage-repos write-collections");
  await hub.send("POST", "/api/repos/create", { name: "tides", type: "space" });
  await hub.send("POST", "/api/collections", { title: "Shores", namespace: person.username });
  await enter(page, person);
  await page.goto(`/spaces/${person.username}/tides`);
  await page.getByRole("link", { name: "Add to a collection" }).click();
  await page.getByLabel("Note").fill("Look at this");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Shores" })).toBeVisible();
  await expect(page.getByText("Look at this")).toBeVisible();
  for (const path of [`/spaces/${person.username}/tides`, `/${person.username}`]) {
    await page.goto(path);
    await page.getByRole("link", { name: "Shores" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Shores" })).toBeVisible();
  }
});

test("an operator adds a platform, rotates its token and revokes it", async ({ page, demo }) => {
  await enter(page, { username: "opal", password: demo.password });
  await page.goto("/admin/platforms");
  const form = page.getByRole("form", { name: "New platform" });
  await form.getByLabel("Name").fill("North forge");
  await form.getByLabel("Source").fill("not an address");
  await form.getByRole("button", { name: "Add platform" }).click();
  await expect(form.getByLabel("Source")).toHaveAccessibleDescription(/absolute URL/);
  await expect(form.getByLabel("Name")).toHaveValue("North forge");
  await form.getByLabel("Source").fill("https://north-forge.example");
  await form.getByRole("button", { name: "Add platform" }).click();
  const token = await page.locator("code", { hasText: /^kh_platform_/ }).textContent();
  const row = page.getByRole("list", { name: "Platforms" }).getByRole("listitem").filter({ hasText: "North forge" });
  await expect(row).toContainText("never used");
  const sync = () =>
    fetch(`${demo.origin}/api/repos/sync`, {
      method: "POST",
      headers: { authorization: `Bearer ${token?.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({
        repos: [{ id: 1, name: "mara/beside", type: "model", private: false, url: "https://north-forge.example/mara/beside" }],
      }),
    });
  expect((await sync()).status).toBe(200);
  await page.goto("/admin/platforms");
  await expect(row).toContainText("1 repository");
  await expectAccessible(page);
  await row.getByRole("button", { name: "New token" }).click();
  await expect(row.getByText(/Copy the .*token of .* now/)).toBeVisible();
  await row.getByText("Revoke", { exact: true }).click();
  await row.getByRole("button", { name: "Revoke the platform" }).click();
  await expect(page.getByRole("status").filter({ hasText: "revoked" })).toBeVisible();
  await expect(row).toHaveCount(0);
  expect((await sync()).status).toBe(401);
});
