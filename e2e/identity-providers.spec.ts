import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";
import { type RunningIssuer, runUpstreamIssuer } from "./support/run-upstream-issuer.ts";
import { SignInPage } from "./support/sign-in-page.ts";

const LINKED = "/settings/linked-accounts";

/** Says who one is at the issuer's own page. */
async function beAt(page: Page, who: string): Promise<void> {
  await page.getByLabel("Who are you?").fill(who);
  await page.getByRole("button", { name: "Go on" }).click();
}

test("an operator sets up an issuer; people sign up with it, link it and unlink it, with and without JavaScript", async ({
  page,
  person,
  another,
  demo,
  browser,
}) => {
  test.slow();
  const slug = `up-${person.username}`;
  const name = `Upstream ${person.username.slice(0, 5)}`;
  const upstream = await runUpstreamIssuer(`${demo.origin}/login/with/${slug}/callback`);
  try {
    await enter(page, { username: "opal", password: demo.password });
    await page.goto("/admin");
    await page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name: "Identity providers" }).click();
    const form = page.getByRole("form", { name: "Add a provider" });
    const issuer = form.getByRole("textbox", { name: "Issuer" });
    await form.getByLabel("Name in addresses").fill(slug);
    await form.getByLabel("Name on the button").fill(name);
    await issuer.fill("http://169.254.169.254/latest");
    await form.getByLabel("Client ID").fill(upstream.clientId);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await form.getByLabel("Make accounts for people who have none").check();
    await form.getByRole("button", { name: "Add provider" }).click();
    await expect(issuer).toHaveAccessibleDescription(/not on the public internet/);
    await expect(form.getByLabel("Name in addresses")).toHaveValue(slug);
    await issuer.fill(upstream.issuer);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await form.getByRole("button", { name: "Add provider" }).click();
    await expect(page.getByText(`People can sign in with ${name} now.`)).toBeVisible();
    await expect(page.getByText(`${demo.origin}/login/with/${slug}/callback`, { exact: true })).toBeVisible();
    await expectAccessible(page);

    for (const hasScripts of [true, false]) {
      const context = await browser.newContext({ javaScriptEnabled: hasScripts, baseURL: demo.origin });
      const theirs = await context.newPage();
      const who = `${hasScripts ? "jo" : "no"}-${person.username}`;
      await theirs.goto("/organizations");
      if (hasScripts) await expectAccessible(theirs);
      await theirs.getByRole("link", { name: `Continue with ${name}` }).click();
      await theirs.getByRole("button", { name: "Say no" }).click();
      await expect(theirs.getByText(`${name} was told not to`)).toBeVisible();
      await theirs.getByRole("link", { name: `Continue with ${name}` }).click();
      await beAt(theirs, who);
      await expect(theirs.getByLabel("Username")).toHaveValue(who);
      await expect(theirs.getByText(`${who}@upstream.test`).first()).toBeVisible();
      if (hasScripts) await expectAccessible(theirs);
      await theirs.getByLabel("Username").fill("admin");
      await theirs.getByRole("button", { name: "Create account" }).click();
      await expect(theirs.getByLabel("Username")).toHaveAccessibleDescription(/reserved/);
      await theirs.getByLabel("Username").fill(who);
      await theirs.getByRole("button", { name: "Create account" }).click();
      await theirs.waitForURL("**/organizations");
      await expect(theirs.getByText("You are in no organization")).toBeVisible();

      // The last way in stays, until there is another.
      await theirs.goto(LINKED);
      await theirs.getByText("Unlink", { exact: true }).click();
      await theirs.getByRole("button", { name: "Unlink the account" }).click();
      await expect(theirs.getByText("This is your only way in.")).toBeVisible();
      await theirs.goto(LINKED);
      await theirs
        .getByRole("form", { name: "Set a password" })
        .getByLabel("Password", { exact: true })
        .fill("a long way from here");
      await theirs.getByRole("button", { name: "Set password" }).click();
      await expect(theirs.getByText("You have a password now")).toBeVisible();
      await theirs.getByText("Unlink", { exact: true }).click();
      await theirs.getByRole("button", { name: "Unlink the account" }).click();
      await expect(theirs.getByText("The account is unlinked.")).toBeVisible();
      await context.close();
    }

    // Who has an account here links it after signing in, and signs in by it from then on.
    await enter(page, another);
    await page.goto(LINKED);
    await page.getByRole("link", { name: `Link at ${name}` }).click();
    await beAt(page, `own-${another.username}`);
    await expect(page.getByRole("heading", { name: `Link ${name} to your account?` })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await expect(page.getByText("The account is linked.")).toBeVisible();
    await expectAccessible(page);
    const fresh = await browser.newContext({ baseURL: demo.origin });
    const later = await fresh.newPage();
    await later.goto(`/login?${new URLSearchParams({ next: LINKED })}`);
    await later.getByRole("link", { name: `Continue with ${name}` }).click();
    await beAt(later, `own-${another.username}`);
    await later.waitForURL(`**${LINKED}`);
    await expect(later.getByText(`own-${another.username}@upstream.test`).first()).toBeVisible();
    await fresh.close();
  } finally {
    await admin(demo, "identity-provider", "remove", "--slug", slug).catch(() => undefined);
    await upstream.stop();
  }
});

test("an organization requires its own issuer: members see the next step, take it, and are in", async ({
  page,
  member,
  another,
  demo,
  browser,
}) => {
  test.slow();
  const [organization] = member.organizations;
  await admin(demo, "org", "add-member", "--org", organization.name, "--user", another.username, "--role", "read");
  const upstream: RunningIssuer = await runUpstreamIssuer(`${demo.origin}/login/with/org-${organization.id}/callback`);
  try {
    await enter(page, member);
    await page.goto(`/organizations/${organization.name}`);
    await page.getByRole("navigation", { name: organization.fullName }).getByRole("link", { name: "Sign-in rules" }).click();
    await page.getByText("Require it", { exact: true }).first().click();
    await page.getByRole("button", { name: "Require it" }).first().click();
    await expect(page.getByText("Set up a second step for your own account first")).toBeVisible();

    await page.goto(`/organizations/${organization.name}/settings/security`);
    const form = page.getByRole("form", { name: "Set up the issuer" });
    await form.getByRole("textbox", { name: "Issuer" }).fill(upstream.issuer);
    await form.getByLabel("Name", { exact: true }).fill("Harbour ID");
    await form.getByLabel("Client ID").fill(upstream.clientId);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await page.getByRole("button", { name: "Save the issuer" }).click();
    await expect(page.getByText("The issuer is saved.")).toBeVisible();
    await page.getByRole("link", { name: "Sign in with Harbour ID" }).click();
    await beAt(page, `chief-${member.username}`);
    await expect(page.getByText("It does not sign you in here.")).toBeVisible();
    await page.getByRole("button", { name: "Link", exact: true }).click();
    const rule = page.getByRole("region", { name: "Sign-in with Harbour ID" });
    await rule.getByText("Require it", { exact: true }).first().click();
    await rule.getByRole("button", { name: "Require it" }).click();
    await expect(page.getByText("The rule holds from now on.")).toBeVisible();
    await expect(page.getByRole("region", { name: "Members who are shut out now" })).toContainText(another.username);
    await expectAccessible(page);

    const context = await browser.newContext({ baseURL: demo.origin });
    const theirs = await context.newPage();
    await enter(theirs, another);
    await theirs.goto("/");
    await expect(theirs.getByText(`${organization.fullName} asks you to sign in with Harbour ID every 7 days.`)).toBeVisible();
    await theirs.goto(`/organizations/${organization.name}`);
    await expectAccessible(theirs);
    // Signed out in between: the way there leads over the sign-in here, since the issuer signs nobody in.
    await theirs.context().clearCookies();
    await theirs.getByRole("link", { name: "Sign in with Harbour ID" }).click();
    await new SignInPage(theirs).signIn(another);
    await beAt(theirs, `crew-${another.username}`);
    await theirs.getByRole("button", { name: "Link", exact: true }).click();
    await theirs.waitForURL(`**/organizations/${organization.name}`);
    await expect(theirs.getByText("Until then what is theirs is closed")).toHaveCount(0);
    await context.close();
  } finally {
    await upstream.stop();
  }
});
