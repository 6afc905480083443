import type { Page, Route } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { enter } from "./support/enter.ts";
import { makeRepo, makeToken } from "./support/git-repository.ts";
import { underMouse } from "./support/permissions-modal.ts";

/** Makes the page's actions unknown to the service, as after an update. */
async function makeStale(page: Page): Promise<void> {
  const renamed = (text: string) => text.replace(/\b[0-9a-f]{42}\b/g, (id) => id.slice(0, 2) + "0".repeat(40));
  await page.route("**/*", async (route: Route) => {
    const request = route.request();
    if (request.method() !== "POST") return route.continue();
    const headers = request.headers();
    if (headers["next-action"]) headers["next-action"] = renamed(headers["next-action"]);
    const postData = Buffer.from(renamed(request.postDataBuffer()?.toString("latin1") ?? ""), "latin1");
    await route.continue({ headers, postData });
  });
}

test.describe("a form from before an update", () => {
  test.describe("without scripts", () => {
    test.use({ javaScriptEnabled: false });

    test("gets a page with the input and a way back", async ({ page }) => {
      await page.goto("/login?next=%2Fsettings");
      await makeStale(page);
      await page.getByLabel("Username or e-mail").fill("mara@example.test");
      await page.getByLabel("Password", { exact: true }).fill("a passphrase");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1, name: "This form is out of date" })).toBeVisible();
      await expect(page.getByText("mara@example.test")).toBeVisible();
      await expect(page.getByText("a passphrase")).toHaveCount(0);
      await page.getByRole("link", { name: "Open the page again" }).click();
      await expect(page).toHaveURL("/login?next=%2Fsettings");
      await expect(page.getByLabel("Username or e-mail")).toBeVisible();
    });
  });

  test("keeps the input on the same page", async ({ page }) => {
    await page.goto("/login");
    await makeStale(page);
    const sent = page.waitForRequest((request) => request.method() === "POST");
    // Before the page's scripts have loaded, the form would be sent without them.
    await page.waitForLoadState("networkidle");
    await page.getByLabel("Username or e-mail").fill("mara@example.test");
    await page.getByLabel("Password", { exact: true }).fill("a passphrase");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    expect((await sent).headers()["next-action"]).toBeTruthy();
    await expect(page.getByRole("alert").filter({ hasText: "updated while this page was open" })).toBeVisible();
    await expect(page.getByLabel("Username or e-mail")).toHaveValue("mara@example.test");
    await expectAccessible(page);
  });

  test("asks to reload the page if it is only a button, in the chosen theme", async ({ page, context, demo }) => {
    await context.addCookies([{ name: "theme", value: "light", url: demo.origin }]);
    await page.goto("/");
    await makeStale(page);
    await page.waitForLoadState("networkidle");
    await page.getByRole("button", { name: "Dark" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "This page is out of date" })).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
    await expectAccessible(page);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Reload the page" }).click();
    await expect(page.getByRole("link", { name: "Sign in" }).first()).toBeVisible();
  });

  test("gets an accessible page in the chosen theme", async ({ page, context, demo }) => {
    await context.addCookies([{ name: "theme", value: "dark", url: demo.origin }]);
    const form = { [`$ACTION_ID_${"0".repeat(42)}`]: "", fullName: "Mara Lindqvist", website: "https://example.com/".repeat(20) };
    await page.goto("/login");
    await page.evaluate((fields) => {
      const element = document.createElement("form");
      element.method = "post";
      element.enctype = "multipart/form-data";
      for (const [name, value] of Object.entries(fields)) {
        element.append(Object.assign(document.createElement("textarea"), { name, value }));
      }
      document.body.append(element);
      element.submit();
    }, form);
    await expect(page.getByRole("heading", { level: 1, name: "This form is out of date" })).toBeVisible();
    await expect(page.locator("html")).toHaveCSS("color-scheme", "dark");
    await expectAccessible(page);
  });
});

test("a lost connection does not take away a secret that is shown once", async ({ page, demo, person }) => {
  const name = await makeRepo(demo, await makeToken(demo, person));
  await enter(page, person);
  await page.goto("/settings/webhooks/new");
  await page.getByRole("combobox", { name: "Watched" }).fill(`model:${name}`);
  await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/hooks");
  await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
  const secret = page.locator("code", { hasText: "whsec_" });
  await expect(secret).toBeVisible();
  await page.route("**/*", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "The server did not respond" })).toBeVisible();
  await expect(secret).toBeVisible();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page).toHaveURL(/delivery=/);
});
