import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { Repository } from "./support/sample-repository.ts";
import type { Person } from "./support/sign-in-page.ts";

async function makeRepository(demo: Demo, person: Person, files: Record<string, string>): Promise<Repository> {
  const repository = await Repository.make(demo, person);
  await repository.commit(files);
  return repository;
}

const content = (page: Page) => page.getByRole("textbox", { name: "Content" });

/** Waits for the editor first, because it hides the text area. A fill of the hidden text area would never end. */
async function fillContent(page: Page, text: string, hasScripts = true): Promise<void> {
  if (hasScripts) await expect(page.locator(".cm-content")).toBeVisible();
  await content(page).fill(text);
}

async function expectContent(page: Page, text: string): Promise<void> {
  const shown = () =>
    content(page).evaluate((element) =>
      element instanceof HTMLTextAreaElement
        ? element.value
        : [...element.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"),
    );
  await expect.poll(shown).toBe(text);
}

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("a file is added, edited, moved, uploaded and deleted", async ({ page, person, demo }) => {
      test.slow();
      const repository = await makeRepository(demo, person, { "crlf.txt": "one\r\ntwo\r\n" });
      await enter(page, person);

      await page.goto(`${repository.path}/new/main/notes?name=tides.md`);
      await expect(page.getByRole("textbox", { name: "Name" })).toHaveValue("notes/tides.md");
      // Playwright loses a line break at the beginning when it fills an editor.
      const text = `${hasScripts ? "" : "\n"}# Tides\n\nÜ & <b>\n`;
      await fillContent(page, text, hasScripts);
      await page.getByLabel("Summary").fill("Say what tides are");
      await page.getByRole("button", { name: "Commit" }).click();
      await page.waitForURL(`**${repository.path}/blob/main/notes/tides.md`);
      expect(await repository.read("notes/tides.md")).toBe(text);

      await page.goto(`${repository.path}/new/main?name=crlf.txt`);
      await fillContent(page, "typed, and not lost", hasScripts);
      await page.getByRole("button", { name: "Commit" }).click();
      await expect(page.getByText("already exists")).toBeVisible();
      await expectContent(page, "typed, and not lost");

      await page.goto(`${repository.path}/edit/main/crlf.txt`);
      await expectContent(page, "one\ntwo\n");
      await fillContent(page, "one\ntwo\nthree\n", hasScripts);
      await page.getByRole("button", { name: "Commit" }).click();
      await page.waitForURL(`**${repository.path}/blob/main/crlf.txt`);
      expect(await repository.read("crlf.txt")).toBe("one\r\ntwo\r\nthree\r\n");

      await page.goto(`${repository.path}/edit/main/crlf.txt`);
      await page.getByRole("textbox", { name: "Name" }).fill("../out.txt");
      await page.getByRole("button", { name: "Commit" }).click();
      await expect(page.getByText("leads elsewhere")).toBeVisible();
      await page.getByRole("textbox", { name: "Name" }).fill("moved/ü ß.txt");
      await page.getByRole("button", { name: "Commit" }).click();
      await page.waitForURL(`**${repository.path}/blob/main/moved/**`);
      expect(await repository.read("crlf.txt")).toBeUndefined();
      expect(await repository.read("moved/ü ß.txt")).toBe("one\r\ntwo\r\nthree\r\n");

      await page.goto(`${repository.path}/upload/main/data`);
      await page.getByRole("button", { name: "Commit" }).click();
      await expect(page.getByText("Choose at least one file")).toBeVisible();
      await page.getByLabel("Files", { exact: true }).setInputFiles([
        { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n") },
        { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) },
      ]);
      await page.getByRole("button", { name: "Commit" }).click();
      await page.waitForURL(`**${repository.path}/tree/main/data`);
      expect(await repository.read("data/a.csv")).toBe("a,b\n");
      expect(await repository.read("data/empty.txt")).toBe("");

      await page.goto(`${repository.path}/delete/main/data/a.csv`);
      await expect(page.getByRole("heading", { name: "Delete a.csv?" })).toBeVisible();
      await page.getByRole("button", { name: "Delete a.csv" }).click();
      await page.waitForURL(`**${repository.path}/tree/main**`);
      expect(await repository.read("data/a.csv")).toBeUndefined();
    });

    test("another user's change in the meantime is reported, and the input is kept", async ({ page, person, demo }) => {
      const repository = await makeRepository(demo, person, { "a.txt": "first", "b.txt": "b" });
      await enter(page, person);
      await page.goto(`${repository.path}/edit/main/a.txt`);
      await fillContent(page, "mine, typed for an hour", hasScripts);
      await page.getByLabel("Summary").fill("My version");
      await repository.commit({ "b.txt": "c" }, "Something else");
      const theirs = await repository.commit({ "a.txt": "theirs" }, "Their version");
      await page.getByRole("button", { name: "Commit" }).click();
      await expect(page.getByText("“Their version”")).toBeVisible();
      await expect(page.getByRole("link", { name: `commit ${theirs.slice(0, 10)}` })).toBeVisible();
      await expectContent(page, "mine, typed for an hour");
      await expect(page.getByLabel("Summary")).toHaveValue("My version");
      expect(await repository.read("a.txt")).toBe("theirs");
      await page.getByRole("button", { name: "Commit" }).click();
      await page.waitForURL(`**${repository.path}/blob/main/a.txt`);
      expect(await repository.read("a.txt")).toBe("mine, typed for an hour");
    });
  });
}

test("a user who may not write proposes changes, and a visitor signs in first", async ({ page, person, another, demo }) => {
  const repository = await makeRepository(demo, person, { "a.txt": "first" });
  await page.goto(`${repository.path}/edit/main/a.txt`);
  await expect(page).toHaveURL(/\/login\?next=/);
  await enter(page, another);
  await page.goto(`${repository.path}/edit/main/a.txt`);
  await fillContent(page, "better");
  await page.getByLabel("Summary").fill("Better words");
  await page.getByRole("button", { name: "Propose" }).click();
  await page.waitForURL(`**${repository.path}/discussions/1`);
  expect(await repository.read("a.txt")).toBe("first");
  expect(await repository.read("a.txt", "refs/pr/1")).toBe("better");
  for (const address of ["edit/gone/a.txt", "edit/main/gone.txt", "edit/main", "delete/main/gone.txt", "new/v1..2"]) {
    const response = await page.request.get(`${repository.path}/${address}`);
    expect([address, response.status()]).toEqual([address, 404]);
  }
});

test("input entered before the page's scripts load stays when they load", async ({ page, person, demo }) => {
  const repository = await makeRepository(demo, person, { "a.txt": "first" });
  await enter(page, person);
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(/\/_next\/static\/.*\.js/, async (route) => {
    await arrived;
    await route.continue();
  });
  await page.goto(`${repository.path}/edit/main/a.txt`, { waitUntil: "commit" });
  const field = page.locator("textarea[name=content]");
  await field.fill("typed early");
  await field.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(0, 5));
  await page.getByLabel("Summary").fill("Early words");
  await field.focus();
  arrive();
  await expect(page.locator(".cm-content")).toBeFocused();
  await expectContent(page, "typed early");
  await expect(page.getByLabel("Summary")).toHaveValue("Early words");
  await page.keyboard.insertText("Typed");
  await expectContent(page, "Typed early");
  await page.getByRole("button", { name: "Commit" }).click();
  await page.waitForURL(`**${repository.path}/blob/main/a.txt`);
  expect(await repository.read("a.txt")).toBe("Typed early");
});

test("files are changed by keyboard alone, on accessible pages", async ({ page, person, demo }) => {
  test.slow();
  const repository = await makeRepository(demo, person, { "a.txt": `${"long ".repeat(100)}\n`.repeat(30), "b.bin": "\0" });
  await enter(page, person);
  for (const address of ["new/main", "edit/main/a.txt", "edit/main/b.bin", "upload/main", "delete/main/a.txt"]) {
    await page.goto(`${repository.path}/${address}`);
    await expectAccessible(page);
  }
  await page.goto(`${repository.path}/new/main`);
  await page.getByRole("textbox", { name: "Name" }).focus();
  await page.keyboard.type("k.txt");
  await page.keyboard.press("Tab");
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Add k");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${repository.path}/blob/main/k.txt`);
  expect(await repository.read("k.txt")).toBe("by keyboard");
});

test("the editor numbers lines and highlights by the file's name, and a preview looks like the file's page", async ({
  page,
  person,
  demo,
}) => {
  const repository = await makeRepository(demo, person, { "README.md": "# Tides\n" });
  await enter(page, person);
  await page.goto(`${repository.path}/edit/main/README.md`);
  await expect(page.locator(".cm-lineNumbers")).toContainText("1");
  await expect(page.locator(".cm-content .tok-heading").first()).toBeVisible();
  await fillContent(page, "## High water\n\nsee [the table](table.csv)");
  await page.getByRole("button", { name: "Preview" }).click();
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByRole("heading", { name: "High water" })).toBeVisible();
  await expect(preview.getByRole("link")).toHaveAttribute("href", `${repository.path}/blob/main/table.csv`);
  await expectContent(page, "## High water\n\nsee [the table](table.csv)");
  expect(await repository.read("README.md")).toBe("# Tides\n");
  await page.getByRole("textbox", { name: "Name" }).fill("tides.json");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("Only Markdown files (.md) can be previewed")).toBeVisible();
});
