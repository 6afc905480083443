import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";
import { underMouse } from "./support/permissions-modal.ts";
import { Repository } from "./support/sample-repository.ts";

const run = promisify(execFile);

const openTab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name }).click();
const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("a repository is created in the browser, pushed to with git, renamed, made private and deleted", async ({
  page,
  demo,
  person,
  browser,
}) => {
  await enter(page, person);
  await page.goto("/");
  await page.getByRole("link", { name: "New repository" }).first().click();
  await page.getByLabel("Dataset").check();
  await page.getByLabel("Name").fill("tide..tables");
  await expect(page.getByText("Do not use -- or .. in the name.")).toBeVisible();
  await page.getByLabel("Name").fill("tide-tables");
  await page.getByLabel("Create an empty repository").check();
  await page.getByRole("button", { name: "Create repository" }).click();
  await expect(page).toHaveURL(`${demo.origin}/datasets/${person.username}/tide-tables?notice=created`);
  const commands = await card(page, "commands for a new folder").textContent();
  expect(commands).toContain(`git clone ${demo.origin}/datasets/${person.username}/tide-tables`);

  const { token } = await hubClient(demo, person, "write-repos");
  const folder = mkdtempSync(join(tmpdir(), "keyhook-hub-"));
  const git = async (...args: string[]) => {
    const address = new URL(demo.origin);
    const helper = `!f() { echo username=${person.username}; echo password=${token}; }; f`;
    const settings = [
      "-c",
      `credential.${address.origin}.helper=${helper}`,
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.test",
    ];
    const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_GLOBAL: "/dev/null" };
    return (await run("git", [...settings, ...args], { cwd: folder, env })).stdout;
  };
  try {
    await git("clone", `${demo.origin}/datasets/${person.username}/tide-tables`, ".");
    writeFileSync(
      join(folder, "README.md"),
      "---\ntags: [tides]\n---\n# Tide tables\n\nSee [the rest](data.csv).\n<script>document.title = 'ran'</script>\n",
    );
    writeFileSync(join(folder, "data.csv"), "a,b\n1,2\n");
    await git("add", ".");
    await git("commit", "-m", "Add the first table");
    await git("push", "origin", "HEAD:main");

    await page.goto(`/datasets/${person.username}/tide-tables`);
    await expect(page.getByRole("heading", { name: "Tide tables" })).toBeVisible();
    await expect(page.getByRole("link", { name: "tides" })).toBeVisible();
    expect(await page.title()).not.toBe("ran");
    await page.getByRole("link", { name: "the rest" }).click();
    await expect(page).toHaveURL(/\/blob\/main\/data\.csv$/);

    await page.getByRole("navigation", { name: "Repository" }).getByRole("link", { name: "Settings" }).click();
    await openTab(page, "Danger");
    await card(page, "Name and owner").getByRole("textbox", { name: "Name" }).fill("Tide-Tables-2");
    await card(page, "Name and owner").getByRole("button", { name: "Rename or move" }).click();
    await expect(page.getByText(`The repository is now ${person.username}/Tide-Tables-2.`)).toBeVisible();
    await page.goto(`/datasets/${person.username}/tide-tables/blob/main/data.csv`);
    await expect(page).toHaveURL(`${demo.origin}/datasets/${person.username}/Tide-Tables-2/blob/main/data.csv`);
    await git("fetch", "origin");

    await page.goto(`/datasets/${person.username}/Tide-Tables-2/settings`);
    await card(page, "About").getByLabel("Description").fill("High and low water.");
    await card(page, "About").getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("paragraph").filter({ hasText: "High and low water." })).toBeVisible();
    await openTab(page, "Access");
    await card(page, "Visibility").getByLabel("Private").check();
    await card(page, "Visibility").getByRole("button", { name: "Save" }).click();
    await expect(card(page, "Visibility").getByText("Saved.")).toBeVisible();
    const stranger = await browser.newPage({ baseURL: demo.origin });
    expect((await stranger.request.get(`/datasets/${person.username}/Tide-Tables-2`)).status()).toBe(404);
    expect((await stranger.request.get(`/datasets/${person.username}/tide-tables`)).status()).toBe(404);
    await stranger.goto("/datasets?search=Tide-Tables-2");
    await expect(stranger.getByText("No datasets match")).toBeVisible();
    await stranger.close();

    await openTab(page, "Danger");
    await page.getByText("Delete this repository").click();
    await page.getByLabel(/^Type .* to confirm$/).fill("tide-tables");
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await expect(page.getByText(`Type ${person.username}/Tide-Tables-2 to delete it.`)).toBeVisible();
    await page.getByLabel(/^Type .* to confirm$/).fill(`${person.username}/Tide-Tables-2`);
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await expect(page.getByText("Repository deleted.")).toBeVisible();
    expect((await page.request.get(`/datasets/${person.username}/Tide-Tables-2`)).status()).toBe(404);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a like works with and without scripts, and the pages of the repository and of the user list it", async ({
  page,
  demo,
  person,
  browser,
}) => {
  const repository = await Repository.make(demo, person);
  await repository.commit({ "README.md": "# Tides\n" });
  await enter(page, person);
  await page.goto(repository.path);
  await page.getByRole("button", { name: "Like" }).click();
  await expect(page.getByRole("button", { name: "Unlike" })).toBeVisible();
  await page.getByRole("link", { name: "1 like" }).click();
  await expect(
    page.getByRole("list", { name: "Users who like this" }).getByRole("link", { name: person.username }),
  ).toBeVisible();
  const unscripted = await browser.newContext({
    baseURL: demo.origin,
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  const plain = await unscripted.newPage();
  await plain.goto(`/${person.username}`);
  await plain.getByRole("list", { name: "Likes" }).getByRole("link").click();
  await plain.getByRole("button", { name: "Unlike" }).click();
  await expect(plain.getByRole("link", { name: "0 likes" })).toBeVisible();
  await plain.getByRole("button", { name: "Like" }).click();
  await expect(plain.getByRole("link", { name: "1 like" })).toBeVisible();
  await unscripted.close();
  const stranger = await browser.newPage({ baseURL: demo.origin });
  await stranger.goto(repository.path);
  await stranger.getByRole("link", { name: "Like", exact: true }).click();
  await expect(stranger).toHaveURL(/\/login\?next=/);
  await stranger.close();
});

test("a gate is enabled, and access is requested, granted and removed", async ({ page, demo, person, another, browser }) => {
  const repository = await Repository.make(demo, person);
  await repository.commit({ "README.md": "# Readings\n\nFor everybody who asks.\n", "data.csv": "a,b\n" });
  await enter(page, person);
  await page.goto(`${repository.path}/settings?tab=access`);
  await card(page, "Gate").getByLabel("Review each request").check();
  await card(page, "Gate").getByLabel("Text shown before a request").fill("For **research** only.");
  await card(page, "Gate").getByRole("button", { name: "Save" }).click();
  await expect(card(page, "Gate").getByText("Saved.")).toBeVisible();

  const theirs = await (await browser.newContext({ baseURL: demo.origin })).newPage();
  await theirs.goto(repository.path);
  await expect(theirs.getByRole("heading", { name: "Readings" })).toBeVisible();
  await expect(theirs.getByRole("link", { name: "Sign in to request access" })).toBeVisible();
  await enter(theirs, another);
  await theirs.goto(repository.path);
  await expect(theirs.getByText("The maintainers of")).toContainText(another.email);
  await theirs.getByLabel("Message").fill("For my thesis.");
  await (await underMouse(theirs.getByRole("button", { name: "Share and request access" }))).click();
  await expect(theirs.getByText("Nobody has decided yet.")).toBeVisible();
  expect([401, 403]).toContain((await theirs.request.get(`${repository.path}/resolve/main/data.csv`)).status());

  await page.reload();
  await page.getByRole("link", { name: "Requests (1)" }).click();
  await expect(page.getByRole("list", { name: "Waiting" })).toContainText("For my thesis.");
  await (await underMouse(page.getByRole("button", { name: /^Accept/ }))).click();
  await expect(page.getByText("Accepted. The user can now read the files")).toBeVisible();
  await theirs.goto(repository.path);
  await expect(theirs.getByText("Access to the files is restricted")).toBeHidden();
  await theirs.goto(`${repository.path}/blob/main/data.csv`);
  await expect(theirs.getByRole("region", { name: "Content of data.csv" })).toContainText("a,b");

  await page.getByRole("link", { name: "With access (1)" }).click();
  await page.getByText("Remove access").first().click();
  await page.getByLabel("Reason").fill("The project is over.");
  await page.getByRole("button", { name: "Remove access" }).click();
  await expect(page.getByText("Rejected. The user cannot read the files.")).toBeVisible();
  await theirs.goto("/settings/gated-repos");
  await expect(theirs.getByText("Reason: The project is over.")).toBeVisible();
  await theirs.goto(repository.path);
  await expect(theirs.getByText("The maintainers have refused you access.")).toBeVisible();
  await theirs.context().close();
});

test("repositories are found by owner and by tag, and an invalid page is reported", async ({ page, demo, person }) => {
  const repository = await Repository.make(demo, person, { type: "space" });
  await repository.commit({ "README.md": `---\ntags: [${person.username}]\n---\n# x\n` });
  await page.goto("/spaces");
  await page.getByLabel("Name, or owner/name").fill(`${person.username}/`);
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.getByRole("list", { name: "Spaces" }).getByRole("listitem")).toHaveCount(1);
  await page.goto(`/spaces?tag=${person.username}`);
  await page.getByRole("link", { name: repository.fullName }).click();
  await expect(page).toHaveURL(demo.origin + repository.path);
  expect((await page.goto("/models?after=nonsense"))?.status()).toBe(200);
  await expect(page.getByText("This URL is not valid.")).toBeVisible();
});
