import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { ConnectedApps } from "./support/connected-apps.ts";
import { enter } from "./support/enter.ts";
import { readLinkTo } from "./support/outbox.ts";

const at = (name: string, page = "") => `/organizations/${name}${page && `/${page}`}`;

test("an app is kept out of an organization, a member asks for it, and once approved it is let in", async ({
  page,
  member,
  demo,
  browser,
  sampleSite,
  modal,
}) => {
  test.slow();
  const [north, tide] = member.organizations;
  // `member` administers the one and writes in the other, of which jonas is administrator.
  const context = await browser.newContext({ baseURL: demo.origin });
  const jonas = await context.newPage();
  await enter(jonas, { username: "jonas", password: demo.password });
  await jonas.goto(at(tide.name, "settings/app-policy"));
  await jonas.getByRole("radio", { name: "Approved apps only" }).check();
  await jonas.getByRole("button", { name: "Save policy" }).click();
  await expect(jonas.getByText("The policy is changed")).toBeVisible();

  await enter(page, member);
  const lantern = sampleSite("server side");
  await lantern.open();
  await lantern.ask({ scopes: ["openid", "profile", "read-repos"], organization: tide.id });
  await modal.expectShownFor(lantern.name);
  await expect(modal.organization(north.fullName)).toBeVisible();
  await expect(modal.organization(tide.fullName)).toHaveCount(0);
  const closed = page.getByRole("listitem").filter({ hasText: tide.fullName });
  await expect(closed).toContainText("asked for by the app");
  await expect(closed).toContainText("lets in approved apps only");
  await expectAccessible(page);

  const [asking] = await Promise.all([
    page.context().waitForEvent("page"),
    closed.getByRole("link", { name: "Ask its administrators" }).click(),
  ]);
  await asking.getByRole("button", { name: "Ask the administrators" }).click();
  await expect(asking.getByText("You get an e-mail when they have answered")).toBeVisible();
  await expectAccessible(asking);
  await asking.close();
  await page.reload();
  await expect(closed).toContainText("Its administrators are asked");
  await modal.organization(north.fullName).check();
  await modal.authorize();
  await lantern.expectSignedIn(member.fullName);

  // The letter leads to where it is decided, and so does the overview.
  await jonas.goto(at(tide.name));
  await expect(jonas.getByText("1 app waits for approval")).toBeVisible();
  await expectAccessible(jonas);
  await jonas.goto(await readLinkTo(demo, "jonas@example.test", `${at(tide.name)}/settings/app-policy`));
  const row = jonas.getByRole("listitem").filter({ hasText: lantern.name });
  await expect(row).toContainText(`${member.username} asks for it`);
  await expectAccessible(jonas);
  await row.getByRole("button", { name: "Approve" }).click();
  await expect(jonas.getByText("The app is approved")).toBeVisible();
  await expect(row).toContainText("Approved");

  await lantern.open();
  await lantern.ask({ scopes: ["openid", "profile", "read-repos"], organization: tide.id });
  await expect(modal.organization(tide.fullName)).toBeChecked();
  await modal.authorize();
  await lantern.expectSignedIn(member.fullName);

  await row.getByText("Block", { exact: true }).click();
  await row.getByRole("button", { name: `Block ${lantern.name}` }).click();
  await expect(jonas.getByText("The app is blocked here")).toBeVisible();
  const apps = new ConnectedApps(page);
  await apps.open();
  await expect(apps.app(lantern.name).first()).toContainText("keeps this app out by its own policy");
  await context.close();
});

test("an organization is handed over, put on a plan, and deleted with all that it owns", async ({
  page,
  member,
  another,
  demo,
  browser,
}) => {
  test.slow();
  const [own] = member.organizations;
  await admin(demo, "org", "add-member", "--org", own.name, "--user", another.username, "--role", "read");
  await enter(page, member);
  await page.goto("/settings/account");
  await expect(page.getByText("You are the only administrator of an organization")).toBeVisible();
  await page.getByRole("link", { name: own.fullName }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Ownership" })).toBeVisible();
  await expectAccessible(page);

  // Who is made an administrator is asked about twice.
  await page.goto(at(own.name, `members/${another.username}`));
  await page.getByRole("radio", { name: "admin" }).check();
  await page.getByRole("button", { name: "Change role" }).click();
  await expect(page.getByRole("heading", { name: `Make ${another.fullName} an administrator?` })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: another.fullName })).toContainText("read");

  await page.goto(at(own.name, "settings/ownership"));
  await page.getByLabel("Username of the member").fill(another.username);
  await page.getByLabel("And you").selectOption("contributor");
  await page.getByRole("button", { name: "Hand over" }).click();
  await expect(page.getByText("The organization is handed over")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: member.fullName })).toContainText("contributor");
  await expect(page.getByRole("listitem").filter({ hasText: another.fullName })).toContainText("admin");
  expect(await readLinkTo(demo, another.email, at(own.name))).toBe(at(own.name));

  const operators = await browser.newContext({ baseURL: demo.origin });
  const opal = await operators.newPage();
  await enter(opal, { username: "opal", password: demo.password });
  await opal.goto(`/admin/organizations?search=${own.name}`);
  await expect(opal.getByRole("listitem").filter({ hasText: own.name })).toContainText(another.email);
  await expectAccessible(opal);
  await opal.getByRole("link", { name: `Change plan of ${own.fullName}` }).click();
  await opal.getByRole("radio", { name: "Enterprise", exact: true }).check();
  await opal.getByRole("button", { name: "Continue" }).click();
  await opal.getByRole("button", { name: "Change to Enterprise" }).click();
  await expect(opal.getByText("The plan is changed")).toBeVisible();
  await opal.goto(`/admin/organizations/${own.name}?plan=team`);
  await expect(opal.getByText("Token exchange stops at once")).toBeVisible();
  await expectAccessible(opal);
  await operators.close();

  const theirs = await browser.newContext({ baseURL: demo.origin });
  const heir = await theirs.newPage();
  await enter(heir, another);
  await heir.goto(at(own.name));
  await expect(heir.getByText("Enterprise.", { exact: true })).toBeVisible();
  await heir.getByRole("link", { name: "Ownership" }).first().click();
  await heir.getByText("Delete this organization").click();
  await heir.getByRole("button", { name: `Delete ${own.name}` }).click();
  await expect(heir.getByText(`Type ${own.name} to confirm.`)).toBeVisible();
  await heir.getByLabel(`Type ${own.name} to confirm`).fill(own.name);
  await heir.getByRole("button", { name: `Delete ${own.name}` }).click();
  await expect(heir.getByText("The organization is deleted")).toBeVisible();
  expect((await page.request.get(at(own.name))).status()).toBe(404);
  expect((await page.request.get(`/${own.name}`)).status()).toBe(404);
  await theirs.close();
});

test("members are found by name and role, and an invitation's link says what became of it", async ({
  page,
  member,
  person,
  another,
  demo,
}) => {
  const [own] = member.organizations;
  await admin(demo, "org", "add-member", "--org", own.name, "--user", another.username, "--role", "write");
  await enter(page, person);
  await page.goto(at(own.name, `members?search=${another.username.slice(2, 9).toUpperCase()}&role=write`));
  await expect(page.getByRole("heading", { name: "1 member found" })).toBeVisible();
  await page.goto(at(own.name, "members?search=nobody-of-this-name"));
  await expect(page.getByText("Nobody is like that")).toBeVisible();
  await expectAccessible(page);

  const email = `x${person.username}@example.test`;
  await page.goto(at(own.name, "members"));
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Send invitation" }).click();
  const link = await readLinkTo(demo, email, "/invitations/");
  await enter(page, { username: "mara", password: demo.password });
  await page.goto(link);
  await expect(page.getByText(`The invitation was sent to ${email}`)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: /^Join/ }).click();
  await page.waitForURL(`**${at(own.name)}`);
  await expect(page.getByText("you may see what is private to the organization")).toBeVisible();
  await enter(page, another);
  await page.goto(link);
  await expect(page.getByRole("heading", { name: /^You are in .* already$/ })).toBeVisible();
  await enter(page, { username: "jonas", password: demo.password });
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "This invitation was used" })).toBeVisible();
});
