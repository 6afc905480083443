import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { correctedFiles, Repository, sampleFiles } from "./support/sample-repository.ts";

test("a visitor finds a file, its history, a commit's changes, and another branch", async ({ page, demo, person }) => {
  const repository = await Repository.make(demo, person, { type: "dataset" });
  await repository.commit(sampleFiles, "Add the first tables");
  await repository.branch("feature/first");
  const corrected = await repository.commit(correctedFiles, "Correct the harbours");

  await page.goto(`${repository.path}/tree/main`);
  await expect(page.getByRole("row", { name: /harbours\.csv/ })).toContainText("Correct the harbours");
  await expect(page.getByRole("region", { name: "README.md" })).toContainText("High and low water for forty harbours");
  await page.getByRole("link", { name: "src (folder)" }).click();
  await page.getByRole("link", { name: "tides.py (file)" }).click();
  await expect(page.getByRole("region", { name: "Content of tides.py" })).toContainText("def height(hour: float)");
  await expect(page).toHaveTitle(/src\/tides\.py at main/);

  await page.goto(`${repository.path}/blob/main/harbours.csv`);
  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.getByRole("link", { name: "Correct the harbours" }).click();
  await expect(page).toHaveURL(new RegExp(`/commit/${corrected}$`));
  const changes = page.getByRole("region", { name: "Changes to harbours.csv" });
  await expect(changes.getByText("+Cove,3")).toBeVisible();
  await expect(changes.getByText("-Alba,1", { exact: true })).toBeVisible();
  await expect(page.getByText("1 file changed")).toBeVisible();

  await page.goto(`${repository.path}/blob/main/harbours.csv`);
  await page.getByText("Branch: main").click();
  await page.getByRole("link", { name: "feature/first" }).click();
  await expect(page).toHaveURL(/\/blob\/feature%2Ffirst\/harbours\.csv$/);
  await expect(page.getByRole("region", { name: "Content of harbours.csv" })).not.toContainText("Cove");
  await page.goto(`${repository.path}/compare/feature%2Ffirst...main`);
  await expect(page.getByRole("region", { name: "Changes to harbours.csv" })).toContainText("+Cove,3");
});

test("S137 nothing in a file runs on our origin, and unusual names are found", async ({ page, demo, person }) => {
  const repository = await Repository.make(demo, person);
  await repository.commit(sampleFiles);
  await page.goto(`${repository.path}/tree/main`);
  await page.getByRole("link", { name: /a name with 🌊 and spaces/ }).click();
  await expect(page.getByRole("region", { name: /^Content of/ })).toContainText("odd");
  await page.goto(`${repository.path}/blob/main/page.html`);
  await expect(page.getByRole("region", { name: "Content of page.html" })).toContainText("document.title = 'ran'");
  const raw = await page.goto(`${repository.path}/resolve/main/page.html`);
  expect(raw?.headers()["content-type"]).toBe("text/plain; charset=utf-8");
  await expect(page.getByText("<!doctype html>")).toBeVisible();
  expect(await page.title()).not.toBe("ran");
});

test("a picture of a private repository is shown to users who may read it", async ({ page, demo, person }) => {
  const repository = await Repository.make(demo, person, { isPrivate: true });
  await repository.commit(sampleFiles);
  const path = `${repository.path}/blob/main/pixel.png`;
  expect((await page.request.get(path)).status()).toBe(404);
  await enter(page, person);
  expect((await page.goto(path))?.status()).toBe(200);
  const picture = page.getByRole("img", { name: "pixel.png" });
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
});

test("only users who may write can create and delete branches and tags", async ({ page, demo, person, another }) => {
  const repository = await Repository.make(demo, person);
  await repository.commit(sampleFiles);
  await enter(page, person);
  await page.goto(`${repository.path}/branches`);
  const form = page.getByRole("region", { name: "New branch" });
  await form.getByLabel("Name").fill("not a branch");
  await form.getByRole("button", { name: "Create branch" }).click();
  await expect(form.getByLabel("Name")).toHaveAttribute("aria-invalid", "true");
  await expect(form.getByLabel("Name")).toHaveValue("not a branch");
  await form.getByLabel("Name").fill("autumn/tables");
  await form.getByRole("button", { name: "Create branch" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "autumn/tables" });
  await row.getByText("Delete branch").click();
  await expect(row.getByText("Delete the branch autumn/tables?")).toBeVisible();
  await row.getByRole("button", { name: "Delete autumn/tables" }).click();
  await expect(row).toHaveCount(0);

  await page.goto(`${repository.path}/tags`);
  const newTag = page.getByRole("region", { name: "New tag" });
  await newTag.getByLabel("Name").fill("v1.0");
  await newTag.getByLabel("Message").fill("The first edition");
  await newTag.getByRole("button", { name: "Create tag" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "v1.0" })).toContainText("The first edition");

  await enter(page, another);
  await page.goto(`${repository.path}/tags`);
  await expect(page.getByRole("link", { name: "v1.0" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Create tag" })).toHaveCount(0);
  await expect(page.getByText("Delete tag")).toHaveCount(0);
});

test("an empty repository's page tells only the owner how to begin", async ({ page, demo, person }) => {
  const repository = await Repository.make(demo, person);
  await page.goto(`${repository.path}/tree/main`);
  await expect(page.getByRole("heading", { name: "No files yet" })).toBeVisible();
  await expect(page.getByText("git push")).toHaveCount(0);
  await enter(page, person);
  await page.goto(`${repository.path}/tree/main`);
  const commands = page.getByRole("region", { name: "commands for a new folder" });
  await expect(commands).toContainText(`git clone ${demo.origin}${repository.path}`);
  for (const rest of ["commits/main", "branches", "tags"]) {
    expect((await page.request.get(`${repository.path}/${rest}`)).status(), rest).toBe(200);
  }
  for (const rest of ["tree/none", "blob/main/none", "commit/none", "commits/main%5E", "compare/main"]) {
    expect((await page.request.get(`${repository.path}/${rest}`)).status(), rest).toBe(404);
  }
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("another branch is chosen, and a large list is paged through", async ({ page, demo, person }) => {
    const repository = await Repository.make(demo, person);
    await repository.commit(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`file-${at}.txt`, `${at}`])));
    await repository.branch("other");
    await page.goto(`${repository.path}/tree/main`);
    await page.getByText("Branch: main").click();
    await page.getByRole("link", { name: "other", exact: true }).click();
    await expect(page).toHaveURL(/\/tree\/other$/);
    await expect(page.getByRole("row", { name: /file-/ })).toHaveCount(100);
    await page.getByRole("link", { name: "More files" }).click();
    await expect(page.getByRole("row", { name: /file-/ })).toHaveCount(50);
  });
});
