import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { ConnectedApps } from "./support/connected-apps.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";
import { readLinkTo } from "./support/kept-mail.ts";
import { pressOnArrival, underMouse } from "./support/permissions-modal.ts";

const at = (name: string, page = "") => `/organizations/${name}${page && `/${page}`}`;

test("an app that a member requests has access from its approval until an administrator blocks it", async ({
  page,
  member,
  demo,
  browser,
  sampleSite,
  modal,
}) => {
  test.slow();
  const [north, tide] = member.organizations;
  // `member` administers the first organization and has the role `write` in the second, whose administrator is jonas.
  const context = await browser.newContext({ baseURL: demo.origin });
  const jonas = await context.newPage();
  await enter(jonas, { username: "jonas", password: demo.password });
  await jonas.goto(at(tide.name, "settings/app-policy"));
  await jonas.getByRole("radio", { name: "Approved apps only" }).check();
  await jonas.getByRole("button", { name: "Save policy" }).click();
  await expect(jonas.getByText("Policy changed")).toBeVisible();

  await enter(page, member);
  const lantern = sampleSite("server side");
  await lantern.open();
  await lantern.requestAccess({ scopes: ["openid", "profile", "read-repos"], organization: tide.id });
  await modal.expectShownFor(lantern.name);
  await expect(modal.organization(north.fullName)).toBeVisible();
  await expect(modal.organization(tide.fullName)).toHaveCount(0);
  const closed = page.getByRole("listitem").filter({ hasText: tide.fullName });
  await expect(closed).toContainText("requested by the app");
  await expect(closed).toContainText("allows only approved apps");
  await expectAccessible(page);

  const [asking] = await Promise.all([
    page.context().waitForEvent("page"),
    closed.getByRole("link", { name: "Ask its administrators" }).click(),
  ]);
  await asking.getByRole("button", { name: "Ask the administrators" }).click();
  await expect(asking.getByText("Your request was sent to the administrators")).toBeVisible();
  await expectAccessible(asking);
  await asking.close();
  await page.reload();
  await expect(closed).toContainText("You have asked its administrators");
  await modal.organization(north.fullName).check();
  await modal.authorize();
  await lantern.expectSignedIn(member.fullName);

  await jonas.goto(at(tide.name));
  await expect(jonas.getByText("1 app is waiting for approval")).toBeVisible();
  await expectAccessible(jonas);
  await jonas.goto(await readLinkTo(demo, "jonas@example.test", `${at(tide.name)}/settings/app-policy`));
  const row = jonas.getByRole("listitem").filter({ hasText: lantern.name });
  await expect(row).toContainText(`Requested by ${member.username}`);
  await expectAccessible(jonas);
  await (await underMouse(row.getByRole("button", { name: "Approve" }))).click();
  await expect(jonas.getByText("App approved")).toBeVisible();
  await expect(row).toContainText("Approved");

  await lantern.open();
  await lantern.requestAccess({ scopes: ["openid", "profile", "read-repos"], organization: tide.id });
  await expect(modal.organization(tide.fullName)).toBeChecked();
  await modal.authorize();
  await lantern.expectSignedIn(member.fullName);

  await row.getByText("Block", { exact: true }).click();
  await row.getByRole("button", { name: `Block ${lantern.name}` }).click();
  await expect(jonas.getByText("App blocked")).toBeVisible();
  const apps = new ConnectedApps(page);
  await apps.open();
  await expect(apps.app(lantern.name).first()).toContainText("does not allow this app");
  await context.close();
});

test("S25 a press immediately after the mouse has arrived neither makes a member an administrator nor creates a webhook", async ({
  page,
  member,
  another,
  demo,
}) => {
  const [own] = member.organizations;
  await admin(demo, "org", "add-member", "--org", own.name, "--user", another.username, "--role", "read");
  await enter(page, member);
  await page.goto(at(own.name, `members/${another.username}?confirm=admin`));
  const confirm = page.getByRole("button", { name: "Make administrator" });
  await pressOnArrival(page, confirm);
  await (await underMouse(confirm)).click({ trial: true });
  await page.goto(at(own.name, "members"));
  await expect(page.getByRole("listitem").filter({ hasText: another.fullName })).toContainText("Read");

  const webhook = { url: "https://example.com/", watch: `org:${own.name}` };
  await page.goto(at(own.name, `settings/webhooks/new?${new URLSearchParams(webhook)}`));
  const create = page.getByRole("button", { name: "Create webhook" });
  await pressOnArrival(page, create);
  await (await underMouse(create)).click();
  await expect(page.getByText("Webhook created")).toBeVisible();
  await page.goto(at(own.name, "settings/webhooks"));
  await expect(page.getByRole("list", { name: "Webhooks" }).getByRole("listitem")).toHaveCount(1);
});

test("an organization is transferred, put on a plan, and deleted", async ({ page, member, another, demo, browser }) => {
  test.slow();
  const [own] = member.organizations;
  await admin(demo, "org", "add-member", "--org", own.name, "--user", another.username, "--role", "read");
  await enter(page, member);
  await page.goto("/settings/account");
  await expect(page.getByText("You are the only administrator of this organization")).toBeVisible();
  await page.getByRole("link", { name: own.fullName }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Ownership" })).toBeVisible();
  await expectAccessible(page);

  await page.goto(at(own.name, `members/${another.username}`));
  await page.getByRole("radio", { name: "admin" }).check();
  await page.getByRole("button", { name: "Change role" }).click();
  await expect(page.getByRole("heading", { name: `Make ${another.fullName} an administrator?` })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: another.fullName })).toContainText("Read");

  await page.goto(at(own.name, "settings/ownership"));
  await page.getByLabel("New administrator").fill(another.username);
  await page.getByLabel("Your new role").selectOption("contributor");
  await page.getByRole("button", { name: "Transfer organization" }).click();
  await expect(page.getByText("Organization transferred")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: member.fullName })).toContainText("Contributor");
  await expect(page.getByRole("listitem").filter({ hasText: another.fullName })).toContainText("Admin");
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
  await (await underMouse(opal.getByRole("button", { name: "Change to Enterprise" }))).click();
  await expect(opal.getByText("Plan changed")).toBeVisible();
  await opal.goto(`/admin/organizations/${own.name}?plan=team`);
  await expect(opal.getByText("Token exchange stops immediately")).toBeVisible();
  await expectAccessible(opal);
  await operators.close();

  const theirs = await browser.newContext({ baseURL: demo.origin });
  const heir = await theirs.newPage();
  await enter(heir, another);
  await heir.goto(at(own.name));
  await expect(heir.getByText("Enterprise", { exact: true }).first()).toBeVisible();
  await heir.getByRole("link", { name: "Ownership" }).first().click();
  await heir.getByText("Delete this organization").click();
  await heir.getByRole("button", { name: `Delete ${own.name}` }).click();
  await expect(heir.getByText(`Type ${own.name} to confirm.`)).toBeVisible();
  await heir.getByLabel(`Type ${own.name} to confirm`).fill(own.name);
  await heir.getByRole("button", { name: `Delete ${own.name}` }).click();
  await expect(heir.getByText("Organization deleted")).toBeVisible();
  expect((await page.request.get(at(own.name))).status()).toBe(404);
  expect((await page.request.get(`/${own.name}`)).status()).toBe(404);
  await theirs.close();
});

test("members are found by name and role, and an invitation's link shows whether it is still valid", async ({
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
  await expect(page.getByText("No members match")).toBeVisible();
  await expectAccessible(page);

  const email = `x${person.username}@example.test`;
  await page.goto(at(own.name, "members"));
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Create invitation" }).click();
  const link = await readLinkTo(demo, email, "/invitations/");
  await enter(page, { username: "mara", password: demo.password });
  await page.goto(link);
  await expect(page.getByText(`The invitation is for ${email}`)).toBeVisible();
  await expectAccessible(page);
  await (await underMouse(page.getByRole("button", { name: /^Join/ }))).click();
  await page.waitForURL(`**${at(own.name)}`);
  await expect(page.getByText(/see the organization.s private content/)).toBeVisible();
  await enter(page, another);
  await page.goto(link);
  await expect(page.getByRole("heading", { name: /^You are already a member of / })).toBeVisible();
  await enter(page, { username: "jonas", password: demo.password });
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "This invitation was already used" })).toBeVisible();
});

test("the overview of an organization shows what waits for its administrators, what fails, and what was done last", async ({
  page,
  demo,
  member,
  another,
}) => {
  const [{ name: org }] = member.organizations;
  const hub = await hubClient(demo, member, "write-repos manage-repos");
  await hub.send("POST", "/api/repos/create", { name: "gauges", type: "dataset", organization: org });
  await hub.send("PUT", `/api/datasets/${org}/gauges/settings`, { gated: "manual" });
  await enter(page, another);
  await page.goto(`/datasets/${org}/gauges`);
  await (await underMouse(page.getByRole("button", { name: "Share and request access" }))).click();
  await expect(page.getByText("Nobody has decided yet.")).toBeVisible();

  await enter(page, member);
  await page.goto(at(org));
  const waiting = page.getByRole("list", { name: "Needs attention" }).getByRole("listitem");
  await expect(page.getByRole("list", { name: "Recent activity" })).toContainText(`created the repository ${org}/gauges`);
  await waiting.filter({ hasText: "1 request for access to gauges" }).getByRole("link", { name: "Decide" }).click();
  await (await underMouse(page.getByRole("button", { name: "Accept" }))).click();
  await expect(page.getByText("Accepted. The user can now read the files")).toBeVisible();
  await page.goto(at(org));
  await expect(waiting.filter({ hasText: "request for access" })).toHaveCount(0);
  await page.getByRole("link", { name: "Audit log" }).last().click();
  await expect(page).toHaveURL(/\/audit-log$/);

  await enter(page, { username: "aiko", password: demo.password });
  await page.goto(at("tidepool"));
  await waiting.filter({ hasText: "Webhook Maintenance" }).getByRole("link", { name: "Deliveries" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Maintenance" })).toBeVisible();
});
