import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { makeRepo, makeToken, WorkTree } from "./support/git-repository.ts";
import type { Person } from "./support/sign-in-page.ts";

/** Somebody's repository with one commit, and a work tree of it. */
async function prepare(demo: Demo, owner: Person) {
  const token = await makeToken(demo, owner);
  const fullName = await makeRepo(demo, token);
  const tree = new WorkTree(demo, token, fullName);
  await tree.init();
  await tree.commit("Begin", { "README.md": "# Tides\n", "tides.txt": "high\n" });
  await tree.git("push", "--quiet", "origin", "main");
  return { fullName, token, tree };
}

const commentsOf = (page: Page) => page.getByRole("article");
const commentBox = (page: Page) => page.getByLabel("Your comment");

test("a discussion is opened, answered, edited, hidden and closed", async ({ page, demo, person, another }) => {
  const { fullName, tree } = await prepare(demo, person);
  await enter(page, another);
  await page.goto(`/${fullName}/discussions`);
  await expect(page.getByText("Nothing is open")).toBeVisible();
  await page.getByRole("link", { name: "New discussion" }).click();
  await page.getByLabel("Title", { exact: true }).fill("When is the tide?");
  await page.getByLabel("Description").fill("I **ask**.\n\n<script>alert(1)</script>");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("region", { name: "Preview" }).getByText("ask", { exact: true })).toBeVisible();
  await expect(page.getByLabel("Title", { exact: true })).toHaveValue("When is the tide?");
  await page.getByRole("button", { name: "Open discussion" }).click();
  await expect(page.getByRole("heading", { name: "When is the tide? #1" })).toBeVisible();
  await expect(commentsOf(page)).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Pin" })).toHaveCount(0);

  // A word that is no comment stays in its box, with the reason beside it.
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(page.getByText("Write something first.")).toBeVisible();
  await commentBox(page).fill("At six.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(commentsOf(page)).toHaveCount(2);
  await expect(commentBox(page)).toHaveValue("");

  const second = commentsOf(page).nth(1);
  await second.getByText("Edit", { exact: true }).click();
  await second.getByLabel("Comment", { exact: true }).fill("At seven.");
  await second.getByRole("button", { name: "Save comment" }).click();
  await expect(second.getByText("At seven.", { exact: true })).toBeVisible();
  await expect(second.getByText("edited")).toBeVisible();
  await second.getByLabel("React", { exact: true }).click();
  await second.getByRole("button", { name: "hooray" }).click();
  await expect(second.getByRole("button", { name: "hooray, 1" })).toHaveAttribute("aria-pressed", "true");

  await enter(page, person);
  await page.goto(`/${fullName}/discussions/1`);
  await second.getByText("Hide", { exact: true }).click();
  await second.getByRole("button", { name: "Hide the comment" }).click();
  await expect(page.getByText("This comment was hidden.")).toBeVisible();
  await expect(page.getByText("At seven.")).toHaveCount(0);
  await page.getByText("Edit title").click();
  await page.getByLabel("Title", { exact: true }).fill("When is high tide?");
  await page.getByRole("button", { name: "Save title" }).click();
  await expect(page.getByRole("heading", { name: "When is high tide? #1" })).toBeVisible();
  await commentBox(page).fill("Settled.");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByText("Settled.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Reopen" })).toBeVisible();
  await page.goto(`/${fullName}/discussions?status=closed`);
  await expect(page.getByRole("link", { name: "When is high tide?" })).toBeVisible();
  tree.remove();
});

test("a pull request is pushed with git, looked at and merged in the browser", async ({ page, demo, person }) => {
  const { fullName, tree } = await prepare(demo, person);
  await enter(page, person);
  await page.goto(`/${fullName}/discussions/new?kind=pull-request`);
  await page.getByLabel("Title", { exact: true }).fill("Low tide too");
  await page.getByRole("button", { name: "Open pull request" }).click();
  await expect(page.getByRole("heading", { name: "No commits yet" })).toBeVisible();
  await tree.git("checkout", "--quiet", "-b", "low");
  await tree.commit("Add low tide", { "tides.txt": "high\nlow\n" });
  await tree.git("push", "--quiet", "origin", "low:refs/pr/1");
  await page.reload();
  await expect(page.getByText("Add low tide")).toBeVisible();
  await page.getByRole("button", { name: "Open for review" }).click();
  await expect(page.getByRole("heading", { name: "It can be merged" })).toBeVisible();

  // Both sides change a line: it says where, and cannot be merged.
  await tree.git("checkout", "--quiet", "main");
  await tree.commit("Another tide", { "tides.txt": "higher\n" });
  await tree.git("push", "--quiet", "origin", "main");
  await page.getByRole("button", { name: "Merge into main" }).click();
  await expect(page.getByText("Both sides changed tides.txt")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "It cannot be merged as it is" })).toBeVisible();
  await tree.git("checkout", "--quiet", "low");
  await tree.git("merge", "--quiet", "--strategy-option=ours", "main", "--message", "Bring main in");
  await tree.git("push", "--quiet", "origin", "low:refs/pr/1");
  await page.goto(`/${fullName}/discussions/1/files`);
  await expect(page.getByText("1 file changed")).toBeVisible();
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("button", { name: "Merge into main" }).click();
  await expect(page.getByText("merged this")).toBeVisible();
  await tree.git("fetch", "--quiet", "origin", "main");
  expect(await tree.git("show", "FETCH_HEAD:tides.txt")).toBe("high\nlow\n");
  expect(await tree.git("log", "-1", "--format=%s", "FETCH_HEAD")).toBe("Merge pull request #1\n");
  tree.remove();
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("a discussion is read, previewed, refused and answered", async ({ page, demo, person }) => {
    const { fullName, tree } = await prepare(demo, person);
    await enter(page, person);
    await page.goto(`/${fullName}/discussions/new`);
    await page.getByLabel("Description").fill("I *ask*.");
    await page.getByRole("button", { name: "Open discussion" }).click();
    await expect(page.getByText("Fill this in.")).toBeVisible();
    await expect(page.getByLabel("Description")).toHaveValue("I *ask*.");
    await page.getByLabel("Title", { exact: true }).fill("When?");
    await page.getByRole("button", { name: "Preview" }).click();
    await expect(page.getByRole("region", { name: "Preview" }).locator("em")).toHaveText("ask");
    await page.getByRole("button", { name: "Open discussion" }).click();
    await expect(page.getByRole("heading", { name: "When? #1" })).toBeVisible();
    await commentBox(page).fill("Now.");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await expect(commentsOf(page)).toHaveCount(2);
    tree.remove();
  });
});
