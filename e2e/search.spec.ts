import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";
import { pressFor } from "./support/screen.ts";

test("search finds repositories, pages and people, and shows nothing that the user may not see", async ({
  page,
  demo,
  person,
  another,
}) => {
  const hub = await hubClient(demo, person, "write-repos manage-repos");
  const name = `quiet-${person.username}`;
  await hub.send("POST", "/api/repos/create", { name, type: "dataset", private: true });
  await enter(page, person);
  await page.goto("/");
  const field = page.getByRole("combobox", { name: /^Search/ });
  await pressFor(page, "Control+k", field);
  await field.fill(name);
  await expect(page.getByRole("option", { name: `${person.username}/${name}` })).toBeVisible();
  await field.fill("access tok");
  await expect(page.getByRole("option", { name: /^Access tokens/ })).toHaveAttribute("aria-selected", "false");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option", { name: /^Access tokens/ })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/settings\/tokens$/);
  await expect(field).toBeHidden();

  await pressFor(page, "Control+k", field);
  await field.fill("access tok");
  await expect(page.getByRole("option", { name: /^Access tokens/ })).toBeVisible();
  await page.route("**/search/find*", () => undefined);
  await field.fill("linked acc");
  await expect(page.getByText("Searching…")).toBeVisible();
  await expect(page.getByText("No results")).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/search\?search=linked%20acc$/);
  await page.unroute("**/search/find*");
  await page.goto("/settings/tokens");

  await pressFor(page, "/", field);
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
  await page.goto("/datasets");
  await pressFor(page, "/", page.getByRole("searchbox"));
  const row = (index: number) =>
    page.getByRole("list", { name: "Datasets" }).getByRole("listitem").nth(index).getByRole("link").first();
  await page.getByRole("searchbox").blur();
  for (const [key, index] of [
    ["j", 0],
    ["j", 1],
    ["k", 0],
  ] as const) {
    await page.keyboard.press(key);
    await expect(row(index)).toBeFocused();
  }

  await enter(page, another);
  await page.goto(`/search?search=${name}`);
  await expect(page.getByRole("heading", { name: "No results" })).toBeVisible();
  await page.goto(`/search?search=${person.username}`);
  await expect(page.getByRole("list", { name: "People and organizations" })).toContainText(person.username);
  await expect(page.getByText(name)).toHaveCount(0);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the search is a page", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("link", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("verify a webhook");
    await page.getByRole("button", { name: "Search" }).click();
    await expect(page.getByRole("list", { name: "Docs" }).getByRole("link").first()).toBeVisible();
  });
});
