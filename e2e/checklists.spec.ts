import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { makeRepo, makeToken } from "./support/git-repository.ts";

test.use({ javaScriptEnabled: false });

test("a new person's checklist shows their progress without scripts, and stays dismissed", async ({ page, demo, person }) => {
  await enter(page, person);
  await page.goto("/");
  const checklist = page.getByRole("region", { name: "First steps" });
  await expect(checklist).toContainText("0 of 4 done");
  await makeRepo(demo, await makeToken(demo, person));
  await page.reload();
  await expect(checklist).toContainText("2 of 4 done");
  await expect(checklist.getByText("Create a repository")).toContainText("(done)");
  await checklist.getByRole("link", { name: "Create a webhook" }).click();
  await expect(page).toHaveURL(/\/settings\/webhooks\/new$/);
  await page.goto("/");
  await checklist.getByRole("button", { name: "Dismiss" }).click();
  await expect(page.getByRole("heading", { name: "Your repositories" })).toBeVisible();
  await expect(checklist).toBeHidden();
});
