import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { enter } from "./support/enter.ts";
import { readLinkTo } from "./support/kept-mail.ts";
import { underMouse } from "./support/permissions-modal.ts";
import type { Person } from "./support/sign-in-page.ts";

const members = (name: string) => `/organizations/${name}/members`;
const rowOf = (page: Page, { fullName }: Pick<Person, "fullName">) => page.getByRole("listitem").filter({ hasText: fullName });

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("a user creates an organization, invites another user and raises that user's role, and the invited user leaves", async ({
      page,
      person,
      another,
      demo,
      browser,
    }) => {
      test.slow();
      const name = `guild-${person.username}`;
      await enter(page, person);
      await page.goto("/organizations");
      await expect(page.getByText("You are not in any organization")).toBeVisible();
      await page.getByRole("link", { name: "New organization" }).click();
      await page.getByLabel("Name in URLs").fill(name);
      await page.getByLabel("Full name").fill(`Guild of ${person.username}`);
      await page.getByRole("button", { name: "Create organization" }).click();
      await expect(page.getByText("The organization is ready")).toBeVisible();

      await page.getByLabel("E-mail").fill(another.email);
      await page.getByLabel("Role").selectOption("contributor");
      await page.getByRole("button", { name: "Create invitation" }).click();
      await expect(page.getByText("Copy the link below and send it to")).toBeVisible();
      const link = (await page.locator("code", { hasText: "/invitations/" }).textContent()) ?? "";
      await expect(page.getByRole("listitem").filter({ hasText: another.email })).toContainText("Contributor");

      const context = await browser.newContext({ javaScriptEnabled: hasScripts, baseURL: demo.origin });
      const theirs = await context.newPage();
      await enter(theirs, another);
      await theirs.goto(link);
      await (await underMouse(theirs.getByRole("button", { name: /^Join/ }))).click();
      await theirs.waitForURL(`**/${name}`);
      await theirs.goto("/organizations");
      await expect(rowOf(theirs, { fullName: `Guild of ${person.username}` })).toContainText("Contributor");

      await page.goto(members(name));
      await expect(page.getByText(another.email)).toHaveCount(0);
      await page.getByRole("link", { name: `Manage ${another.fullName}` }).click();
      await page.getByRole("radio", { name: "write" }).check();
      await page.getByRole("button", { name: "Change role" }).click();
      await expect(page.getByText("Role changed")).toBeVisible();
      await expect(rowOf(page, another)).toContainText("Write");

      await theirs.goto(members(name));
      await expect(theirs.getByRole("link", { name: /^Manage/ })).toHaveCount(0);
      await theirs.getByText("Leave this organization").click();
      await theirs.getByRole("button", { name: `Leave Guild of ${person.username}` }).click();
      await expect(theirs.getByText("You left the organization")).toBeVisible();
      await page.reload();
      await expect(rowOf(page, another)).toHaveCount(0);
      await context.close();
    });

    test("an administrator revokes an invitation", async ({ page, member, demo, another }) => {
      const [own] = member.organizations;
      await enter(page, member);
      await page.goto(members(own.name));
      await page.getByLabel("E-mail").fill(another.email);
      await page.getByRole("button", { name: "Create invitation" }).click();
      const link = await readLinkTo(demo, another.email, "/invitations/");
      const row = page.getByRole("listitem").filter({ hasText: another.email });
      await row.getByText("Revoke", { exact: true }).click();
      await expect(row.getByText(`Revoke the invitation to ${another.email}?`)).toBeVisible();
      await row.getByRole("button", { name: "Revoke invitation" }).click();
      await expect(page.getByText("Invitation revoked")).toBeVisible();
      await expect(row).toHaveCount(0);
      // The page tells a member only that they are already a member.
      await page.context().clearCookies();
      await page.goto(link);
      await expect(page.getByRole("heading", { name: "This invitation no longer works" })).toBeVisible();
      await expect(page.getByText("was revoked")).toBeVisible();
    });

    test("the last administrator can neither leave nor step down, and sees why", async ({ page, member }) => {
      const [own] = member.organizations;
      await enter(page, member);
      await page.goto(members(own.name));
      await expect(page.getByRole("region", { name: "Your membership" })).toContainText("last administrator");
      await expect(page.getByText("Leave this organization")).toHaveCount(0);

      await page.goto(`${members(own.name)}/${member.username}`);
      await page.getByRole("radio", { name: "read" }).check();
      await page.getByRole("button", { name: "Change role" }).click();
      await expect(page.getByRole("main").getByRole("alert")).toContainText("last administrator");
    });

    test("the profile is edited and shown to everybody, but only members see who the members are", async ({
      page,
      member,
      another,
    }) => {
      const [own] = member.organizations;
      await enter(page, member);
      await page.goto(`/organizations/${own.name}/settings`);
      const logo = Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
        "base64",
      );
      await page.getByLabel("Logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: logo });
      await page.getByLabel("Website").fill("https://north.example");
      await page.getByRole("button", { name: "Save" }).first().click();
      await expect(page.getByText("Profile saved")).toBeVisible();

      await page.goto(`/${own.name}`);
      await expect(page.getByRole("link", { name: "north.example" })).toBeVisible();
      await expect(page.getByRole("region", { name: "Members" })).toContainText(member.username);
      const picture = await page.request.get(`/avatars/${own.name}`);
      expect(picture.headers()["content-type"]).toBe("image/webp");

      await enter(page, another);
      await page.goto(`/${own.name}`);
      await expect(page.getByRole("heading", { level: 1, name: own.fullName })).toBeVisible();
      await expect(page.getByText(member.username, { exact: true })).toHaveCount(0);
    });
  });
}

test("S136 to a stranger, an organization's pages look like the pages of a missing organization", async ({
  page,
  member,
  another,
}) => {
  const [own] = member.organizations;
  await enter(page, another);
  for (const path of ["settings", "members", `members/${member.username}`, "settings/applications"]) {
    const answers = await Promise.all(
      [own.name, "no-such-organization"].map((name) => page.request.get(`/organizations/${name}/${path}`)),
    );
    expect(answers.map((answer) => answer.status())).toEqual([404, 404]);
  }
});

test("a form that is refused keeps what was typed, with the reason beside the field", async ({ page, person }) => {
  await enter(page, person);
  await page.goto("/organizations/new");
  await page.getByLabel("Name in URLs").fill("settings");
  await page.getByLabel("Full name").fill("The Settings");
  await page.getByRole("button", { name: "Create organization" }).click();
  const field = page.getByLabel("Name in URLs");
  await expect(field).toHaveAccessibleDescription(/reserved/);
  await expect(field).toHaveValue("settings");
  await expect(page.getByLabel("Full name")).toHaveValue("The Settings");
});

test("a member below the role admin sees the members, and cannot change them", async ({ page, member }) => {
  const [, other] = member.organizations;
  await enter(page, member);
  await page.goto(members(other.name));
  await expect(rowOf(page, member)).toContainText("Write");
  await expect(page.getByRole("button", { name: "Create invitation" })).toHaveCount(0);
  await page.goto(`/organizations/${other.name}/settings`);
  await expect(page).toHaveURL(new RegExp(`${members(other.name)}$`));
  expect((await page.request.get(`${members(other.name)}/${member.username}`)).status()).toBe(404);
});
