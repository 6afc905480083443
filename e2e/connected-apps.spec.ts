import { expect, test } from "./fixtures.ts";
import { ConnectedApps } from "./support/connected-apps.ts";
import { enter } from "./support/enter.ts";
import { underMouse } from "./support/permissions-modal.ts";

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("S114 each app is listed with its permissions and organizations, and revoking one app leaves all other apps", async ({
      page,
      demo,
      browser,
      member,
      sampleSite,
      modal,
    }) => {
      test.slow();
      const [north, tide] = member.organizations;
      const lantern = sampleSite("server side");
      await enter(page, member);
      await lantern.open();
      await lantern.signInButton.click();
      await modal.scope("email").uncheck();
      await modal.organization(north.fullName).check();
      await modal.authorize();
      await lantern.expectSignedIn(member.fullName);

      const apps = new ConnectedApps(page);
      await apps.open();
      const row = apps.app(lantern.name).first();
      await expect(row).toContainText("See your username, name and picture");
      await expect(row).toContainText("Read your repositories, including private ones");
      await expect(row).not.toContainText("See your e-mail address");
      await expect(row).toContainText(north.fullName);
      await expect(row).not.toContainText(tide.fullName);
      // The service records uses in batches, a few seconds later.
      await expect(async () => {
        await page.reload();
        await expect(row).toContainText(/Authorized .* · last used/, { timeout: 500 });
      }).toPass();

      const context = await browser.newContext({ baseURL: demo.origin, javaScriptEnabled: true });
      const elsewhere = await context.newPage();
      await enter(elsewhere, member);
      await elsewhere.goto(demo.sites.inBrowser);
      await elsewhere.getByRole("button", { name: /^Sign in with/ }).click();
      await (await underMouse(elsewhere.getByRole("button", { name: "Authorize" }))).click();
      await elsewhere.getByRole("heading", { level: 1, name: `Hello, ${member.fullName}` }).waitFor();

      await apps.open();
      await row.getByText("Reduce access").click();
      const form = row.getByRole("form", { name: `Access of ${lantern.name}` });
      await form.getByLabel("Read your repositories, including private ones").uncheck();
      await form.getByLabel(north.fullName).uncheck();
      await form.getByRole("button", { name: "Save access" }).click();
      await expect(page.getByText("Access reduced.")).toBeVisible();
      await expect(row).not.toContainText("Read your repositories, including private ones");
      await expect(row).not.toContainText(north.fullName);

      const trigger = row.getByText("Revoke").first();
      const question = row.getByText(`Revoke the access of ${lantern.name}?`);
      const waysToClose = [
        () => row.getByRole("button", { name: "Cancel" }).click(),
        () => page.keyboard.press("Escape"),
        () => page.getByRole("heading", { level: 1 }).click(),
        // The keyboard is used, because the question covers this button for the mouse.
        () => apps.app("Copper Kite").first().getByText("Revoke").first().press("Enter"),
      ];
      for (const close of hasScripts ? waysToClose : [() => trigger.click()]) {
        await trigger.click();
        await expect(question).toBeVisible();
        await close();
        await expect(question).toBeHidden();
      }
      await apps.revoke(lantern.name);
      await expect(page.getByText("Access revoked")).toBeVisible();
      await expect(apps.app("Copper Kite").first()).toBeVisible();

      await elsewhere.getByRole("button", { name: "Call the API" }).click();
      await expect(elsewhere.getByRole("heading", { name: "The API responded" })).toBeVisible();
      await lantern.open();
      await lantern.callApiButton.click();
      await lantern.expectMessage("Access was revoked");
      await context.close();
    });
  });
}

test("an empty list of connected apps says what will appear there", async ({ page, person }) => {
  await enter(page, person);
  await new ConnectedApps(page).open();
  await expect(page.getByText("No connected apps")).toBeVisible();
});

test("S114 another user's consent looks like one that does not exist", async ({
  page,
  browser,
  demo,
  person,
  another,
  sampleSite,
  signInAt,
}) => {
  await signInAt(sampleSite("server side"), person);
  const apps = new ConnectedApps(page);
  await apps.open();
  const foreign = await page.locator("input[name=consentId]").inputValue();

  const context = await browser.newContext({ baseURL: demo.origin });
  const theirs = await context.newPage();
  await enter(theirs, another);
  await theirs.goto(demo.sites.serverSide);
  await theirs.getByRole("link", { name: /^Sign in with/ }).click();
  await (await underMouse(theirs.getByRole("button", { name: "Authorize" }))).click();
  await theirs.getByRole("heading", { name: `Hello, ${another.fullName}` }).waitFor();
  const said: string[] = [];
  for (const id of [foreign, "0123456789abcdef01234567", "not an id"]) {
    await theirs.goto("/settings/connected-applications");
    await theirs.getByText("Revoke", { exact: true }).click();
    await theirs
      .locator("input[name=consentId]")
      .evaluate((input: HTMLInputElement, value) => input.setAttribute("value", value), id);
    await theirs.getByRole("button", { name: /^Revoke/ }).click();
    said.push((await theirs.getByRole("main").getByRole("alert").textContent()) ?? "");
  }
  expect(new Set(said)).toEqual(new Set(["Connected app not found"]));
  await context.close();

  await apps.open();
  await expect(page.locator("input[name=consentId]")).toHaveValue(foreign);
});

test("an invalid page number, or one past the end, still shows the list", async ({ page, person, sampleSite, signInAt }) => {
  await signInAt(sampleSite("server side"), person);
  for (const at of ["2", "99999999999999999999", "-1", "x"]) {
    await page.goto(`/settings/connected-applications?page=${at}`);
    await expect(new ConnectedApps(page).app("Paper Lantern").first()).toBeVisible();
  }
});
