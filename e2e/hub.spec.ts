import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";
import { Repository } from "./support/sample-repository.ts";

const run = promisify(execFile);

const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("a repository is made in the browser, pushed to with git, renamed, hidden and deleted", async ({
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
  await expect(page.getByText("No -- and no .. in it.")).toBeVisible();
  await page.getByLabel("Name").fill("tide-tables");
  await page.getByRole("button", { name: "Make repository" }).click();
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
    await card(page, "Name and owner").getByRole("textbox", { name: "Name" }).fill("Tide-Tables-2");
    await card(page, "Name and owner").getByRole("button", { name: "Rename or move" }).click();
    await expect(page.getByText(`It is ${person.username}/Tide-Tables-2 now.`)).toBeVisible();
    await page.goto(`/datasets/${person.username}/tide-tables/blob/main/data.csv`);
    await expect(page).toHaveURL(`${demo.origin}/datasets/${person.username}/Tide-Tables-2/blob/main/data.csv`);
    // Clones go on working.
    await git("fetch", "origin");

    await page.goto(`/datasets/${person.username}/Tide-Tables-2/settings`);
    await card(page, "About").getByLabel("Description").fill("High and low water.");
    await card(page, "About").getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("paragraph").filter({ hasText: "High and low water." })).toBeVisible();
    await card(page, "Visibility").getByLabel("Private").check();
    await card(page, "Visibility").getByRole("button", { name: "Save" }).click();
    await expect(card(page, "Visibility").getByText("Saved.")).toBeVisible();
    const stranger = await browser.newPage({ baseURL: demo.origin });
    expect((await stranger.request.get(`/datasets/${person.username}/Tide-Tables-2`)).status()).toBe(404);
    expect((await stranger.request.get(`/datasets/${person.username}/tide-tables`)).status()).toBe(404);
    await stranger.goto("/datasets?search=Tide-Tables-2");
    await expect(stranger.getByText("Nothing found")).toBeVisible();
    await stranger.close();

    await page.getByText("Delete this repository").click();
    await page.getByLabel(/^Type .* to confirm$/).fill("tide-tables");
    await page.getByRole("button", { name: "Delete it for good" }).click();
    await expect(page.getByText(`Type ${person.username}/Tide-Tables-2 to delete it.`)).toBeVisible();
    await page.getByLabel(/^Type .* to confirm$/).fill(`${person.username}/Tide-Tables-2`);
    await page.getByRole("button", { name: "Delete it for good" }).click();
    await expect(page.getByText("The repository is deleted.")).toBeVisible();
    expect((await page.request.get(`/datasets/${person.username}/Tide-Tables-2`)).status()).toBe(404);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a gate is put up, asked at, opened and closed", async ({ page, demo, person, another, browser }) => {
  const repository = await Repository.make(demo, person);
  await repository.commit({ "README.md": "# Readings\n\nFor whoever asks.\n", "data.csv": "a,b\n" });
  await enter(page, person);
  await page.goto(`${repository.path}/settings`);
  await card(page, "Gate").getByLabel("Decide on each request").check();
  await card(page, "Gate").getByLabel("What people read before they ask").fill("For **research** only.");
  await card(page, "Gate").getByRole("button", { name: "Save" }).click();
  await expect(card(page, "Gate").getByText("Saved.")).toBeVisible();

  const theirs = await (await browser.newContext({ baseURL: demo.origin })).newPage();
  await theirs.goto(repository.path);
  await expect(theirs.getByRole("heading", { name: "Readings" })).toBeVisible();
  await expect(theirs.getByRole("link", { name: "Sign in to ask for access" })).toBeVisible();
  await enter(theirs, another);
  await theirs.goto(repository.path);
  await expect(theirs.getByText("Those who manage")).toContainText(another.email);
  await theirs.getByLabel("Message").fill("For my thesis.");
  await theirs.getByRole("button", { name: "Share these and ask for access" }).click();
  await expect(theirs.getByText("Nobody has answered yet.")).toBeVisible();
  expect([401, 403]).toContain((await theirs.request.get(`${repository.path}/resolve/main/data.csv`)).status());

  await page.reload();
  await page.getByRole("link", { name: "Requests (1)" }).click();
  await expect(page.getByRole("list", { name: "Waiting" })).toContainText("For my thesis.");
  await page.getByRole("button", { name: /^Accept/ }).click();
  await expect(page.getByText("Accepted. They can read the files now")).toBeVisible();
  await theirs.goto(repository.path);
  await expect(theirs.getByText("Access to the files is restricted")).toBeHidden();
  await theirs.goto(`${repository.path}/blob/main/data.csv`);
  await expect(theirs.getByRole("region", { name: "Content of data.csv" })).toContainText("a,b");

  await page.getByRole("link", { name: "Let in (1)" }).click();
  await page.getByText("Shut out").click();
  await page.getByLabel("Reason").fill("The project is over.");
  await page.getByRole("button", { name: "Shut them out" }).click();
  await expect(page.getByText("Rejected. They get a letter.")).toBeVisible();
  await theirs.goto("/settings/gated-repos");
  await expect(theirs.getByText("They write: The project is over.")).toBeVisible();
  await theirs.goto(repository.path);
  await expect(theirs.getByText("Your request was rejected.")).toBeVisible();
  await theirs.context().close();
});

test("repositories are found by name, owner and tag, page after page", async ({ page, demo, person }) => {
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
  await expect(page.getByText("This address is not understood.")).toBeVisible();
});
