import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { makeRepo, makeToken, WorkTree } from "./support/git-repository.ts";
import { underMouse } from "./support/permissions-modal.ts";
import type { Person } from "./support/sign-in-page.ts";

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

test("a discussion is opened, answered and closed, and a comment is edited and hidden", async ({
  page,
  demo,
  person,
  another,
}) => {
  const { fullName, tree } = await prepare(demo, person);
  await enter(page, another);
  await page.goto(`/${fullName}/discussions`);
  await expect(page.getByText("Nothing open")).toBeVisible();
  await page.getByRole("link", { name: "New discussion" }).click();
  await expect(page.getByRole("heading", { name: "New discussion" })).toBeVisible();
  await page.getByLabel("Title", { exact: true }).fill("When is the tide?");
  await page.getByLabel("Description").fill("I **ask**.\n\n<script>alert(1)</script>");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("region", { name: "Preview" }).getByText("ask", { exact: true })).toBeVisible();
  await expect(page.getByLabel("Title", { exact: true })).toHaveValue("When is the tide?");
  await page.getByRole("button", { name: "Open discussion" }).click();
  await expect(page.getByRole("heading", { name: "When is the tide? #1" })).toBeVisible();
  await expect(commentsOf(page)).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Pin" })).toHaveCount(0);

  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(page.getByText("Enter some text.")).toBeVisible();
  await commentBox(page).fill("At six.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(commentsOf(page)).toHaveCount(2);
  await expect(commentBox(page)).toHaveValue("");

  const second = commentsOf(page).nth(1);
  await second.getByText("Edit", { exact: true }).click();
  await second.getByLabel("Comment", { exact: true }).fill("At seven.");
  await second.getByRole("button", { name: "Save comment" }).click();
  await expect(second.getByRole("paragraph").filter({ hasText: "At seven." })).toBeVisible();
  await expect(second.getByLabel("Comment", { exact: true })).toBeHidden();
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
  await expect(page.getByLabel("Title", { exact: true })).toBeHidden();
  await commentBox(page).fill("Settled.");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByRole("paragraph").filter({ hasText: "Settled." })).toBeVisible();
  await page.getByRole("button", { name: "Reopen" }).click();
  await expect(page.getByText("opened this", { exact: false }).last()).toBeVisible();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByRole("button", { name: "Reopen" })).toBeVisible();
  await page.goto(`/${fullName}/discussions?status=closed`);
  await expect(page.getByRole("link", { name: "When is high tide?" })).toBeVisible();
  tree.remove();
});

test("unsent text survives a reaction on the page, and changes by the API", async ({ page, demo, person }) => {
  const { fullName, token, tree } = await prepare(demo, person);
  await enter(page, person);
  await page.goto(`/${fullName}/discussions/new`);
  await page.getByLabel("Title", { exact: true }).fill("When?");
  await page.getByLabel("Title", { exact: true }).press("Enter");
  await expect(page.getByRole("heading", { name: "When? #1" })).toBeVisible();
  await commentBox(page).fill("First.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(commentBox(page)).toHaveValue("");

  const send = (path: string, body: unknown) => post(demo, token, `/api/models/${fullName}/discussions/1${path}`, body);
  for (let times = 0; times < 100; times++) await send("/pin", { pinned: times % 2 === 0 });
  await send("/comment", { comment: "Last." });
  await page.goto(`/${fullName}/discussions/1?page=2`);
  const last = commentsOf(page).last();
  await expect(last.getByRole("paragraph").filter({ hasText: "Last." })).toBeVisible();
  await commentBox(page).fill("Half a thought");
  await send("/pin", { pinned: true });
  await last.getByLabel("React", { exact: true }).click();
  await last.getByRole("button", { name: "heart" }).click();
  await expect(last.getByRole("button", { name: "heart, 1" })).toBeVisible();
  await expect(last.getByRole("button", { name: "rocket" })).toBeHidden();
  await expect(page.getByText("pinned this").last()).toBeVisible();
  await expect(page).toHaveURL(/page=2/);
  await expect(commentBox(page)).toHaveValue("Half a thought");
  tree.remove();
});

async function post(demo: Demo, token: string, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(demo.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
}

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
  await expect(page.getByRole("heading", { name: "No conflicts" })).toBeVisible();
  await tree.git("push", "--quiet", "--force", "origin", "main:refs/pr/1");
  await page.reload();
  await expect(page.getByRole("heading", { name: "Already merged" })).toBeVisible();
  await expect(page.getByText("All commits of this pull request are already in main")).toBeVisible();
  await tree.git("push", "--quiet", "origin", "low:refs/pr/1");
  await page.reload();

  await tree.git("checkout", "--quiet", "main");
  await tree.commit("Another tide", { "tides.txt": "higher\n" });
  await tree.git("push", "--quiet", "origin", "main");
  await (await underMouse(page.getByRole("button", { name: "Merge into main" }))).click();
  await expect(page.getByText("Both sides changed tides.txt")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Conflicts", exact: true })).toBeVisible();
  await tree.git("checkout", "--quiet", "low");
  await tree.git("merge", "--quiet", "--strategy-option=ours", "main", "--message", "Bring main in");
  await tree.git("push", "--quiet", "origin", "low:refs/pr/1");
  await page.goto(`/${fullName}/discussions/1/files`);
  await expect(page.getByText("1 file changed")).toBeVisible();
  await page.getByRole("link", { name: "Conversation" }).click();
  await (await underMouse(page.getByRole("button", { name: "Merge into main" }))).click();
  await expect(page.getByText("merged this")).toBeVisible();
  await tree.git("fetch", "--quiet", "origin", "main");
  expect(await tree.git("show", "FETCH_HEAD:tides.txt")).toBe("high\nlow\n");
  expect(await tree.git("log", "-1", "--format=%s", "FETCH_HEAD")).toBe("Merge pull request #1\n");
  tree.remove();
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("a discussion is opened after a preview and a refusal, read and answered", async ({ page, demo, person }) => {
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
    const first = commentsOf(page).first();
    await first.getByText("Edit", { exact: true }).click();
    await first.getByLabel("Comment", { exact: true }).fill("");
    await first.getByRole("button", { name: "Save comment" }).click();
    await expect(first.getByText("Enter some text.")).toBeVisible();
    await first.getByLabel("Comment", { exact: true }).fill("I **really** ask.");
    await first.getByRole("button", { name: "Preview" }).click();
    await expect(first.getByRole("region", { name: "Preview" }).locator("strong")).toHaveText("really");
    await first.getByRole("button", { name: "Save comment" }).click();
    await expect(first.locator("strong")).toHaveText("really");
    await expect(first.getByLabel("Comment", { exact: true })).toBeHidden();
    await first.getByLabel("React", { exact: true }).click();
    await first.getByRole("button", { name: "heart" }).click();
    await expect(first.getByRole("button", { name: "heart, 1" })).toBeVisible();
    await commentBox(page).fill("Now.");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await expect(commentsOf(page)).toHaveCount(2);
    tree.remove();
  });
});
