import { randomBytes } from "node:crypto";
import { expect, test } from "./fixtures.ts";
import { ConnectedApps } from "./support/connected-apps.ts";
import { enter } from "./support/enter.ts";
import { readLinkTo } from "./support/kept-mail.ts";
import type { SiteKind } from "./support/sample-site.ts";
import { withoutScriptsAt } from "./support/without-scripts.ts";

const kinds: SiteKind[] = ["server side", "in the browser"];
const USUAL = ["openid", "profile", "email", "read-repos"];

for (const kind of kinds) {
  for (const hasScripts of [true, false]) {
    test.describe(`${kind}, our pages ${hasScripts ? "with" : "without"} JavaScript`, () => {
      // The site in the browser needs its own scripts.
      test.use({ javaScriptEnabled: hasScripts || kind === "in the browser" });

      test("a user signs in, grants one organization and not every scope, and revokes the access", async ({
        page,
        demo,
        member,
        sampleSite,
        signInPage,
        modal,
      }) => {
        if (!hasScripts && kind === "in the browser") await withoutScriptsAt(page, demo.origin);
        const [north, tide] = member.organizations;
        const site = sampleSite(kind);

        await site.open();
        await site.expectSignedOut();
        await site.signInButton.click();
        await signInPage.expectShown();
        await expect(page.getByText(`to continue to ${site.name}`)).toBeVisible();
        await signInPage.signIn(member);

        await modal.expectShownFor(site.name);
        await expect(modal.organization(north.fullName)).not.toBeChecked();
        await expect(modal.organization(tide.fullName)).not.toBeChecked();
        await modal.organization(north.fullName).check();
        await modal.scope("read-repos").uncheck();
        await modal.authorize();

        await site.expectSignedIn(member.fullName);
        await site.expectScopes(["openid", "profile", "email"]);
        await site.expectProfile("E-mail address", member.email);
        await site.expectProfile("Organizations", `${north.fullName} admin`);
        await site.callApiButton.click();
        await site.expectMessage("The API responded");

        const settings = await page.context().newPage();
        if (!hasScripts && kind === "in the browser") await withoutScriptsAt(settings, demo.origin);
        const connectedApps = new ConnectedApps(settings);
        await connectedApps.open();
        await connectedApps.revoke(site.name);

        await site.callApiButton.click();
        await site.expectMessage("Access was revoked");
      });
    });
  }

  test.describe(kind, () => {
    test("a refusal is reported to the site, and not remembered", async ({ page, person, sampleSite, modal }) => {
      await enter(page, person);
      const site = sampleSite(kind);
      await site.open();
      await site.signInButton.click();
      await modal.cancel();
      await site.expectMessage(`You did not authorize ${site.name}`);

      await site.signInButton.click();
      await modal.expectShownFor(site.name);
      await modal.authorize();
      await site.expectSignedIn(person.fullName);
    });

    test("a wrong password shows an error beside the field, and the sign-in continues afterwards", async ({
      page,
      person,
      sampleSite,
      signInPage,
      modal,
    }) => {
      const site = sampleSite(kind);
      await site.open();
      await site.signInButton.click();
      await signInPage.signIn({ ...person, password: "not the password" });
      await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/Incorrect/);
      await expect(page.getByLabel("Username or e-mail")).toHaveValue(person.username);
      await signInPage.signIn(person);
      await modal.authorize();
      await site.expectSignedIn(person.fullName);
    });

    test("a user without an account creates one during the sign-in", async ({ page, demo, sampleSite, modal }) => {
      const username = `n${randomBytes(5).toString("hex")}`;
      const newcomer = { username, email: `${username}@example.test`, password: randomBytes(12).toString("hex") };
      const site = sampleSite(kind);
      await site.open();
      await site.signInButton.click();
      await page.getByRole("link", { name: "Create an account" }).click();
      await page.getByLabel("Username", { exact: true }).fill(username);
      await page.getByLabel("Full name").fill("Nadia Novak");
      await page.getByLabel("E-mail").fill(newcomer.email);
      await page.getByLabel("Password", { exact: true }).fill(newcomer.password);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.goto(await readLinkTo(demo, newcomer.email));
      await page.getByLabel("The password that you chose", { exact: true }).fill(newcomer.password);
      await page.getByRole("button", { name: "Finish" }).click();
      await modal.expectShownFor(site.name);
      await modal.authorize();
      await site.expectSignedIn("Nadia Novak");
    });

    test("somebody else can sign in from the modal", async ({ page, another, person, sampleSite, signInPage, modal }) => {
      await enter(page, person);
      const site = sampleSite(kind);
      await site.open();
      await site.signInButton.click();
      await modal.expectAccount(person);
      await modal.switchAccount();
      await signInPage.signIn(another);
      await modal.expectAccount(another);
      await modal.authorize();
      await site.expectSignedIn(another.fullName);
    });

    test("a request for more access asks only for the new part", async ({ person, sampleSite, modal, signInAt }) => {
      const site = sampleSite(kind);
      await signInAt(site, person);
      await site.expectScopes(USUAL);

      await site.requestAccess({ scopes: ["email", "read-repos", "write-discussions"] });
      await modal.expectShownFor(site.name);
      await expect(modal.scope("write-discussions")).toBeVisible();
      await expect(modal.scope("email")).toHaveCount(0);
      await expect(modal.scope("read-repos")).toHaveCount(0);
      await expect(modal.page.getByText(/already granted/i)).toBeVisible();
      await modal.authorize();
      await site.expectScopes([...USUAL, "write-discussions"]);
    });

    test("an organization that the site requests is ticked and marked", async ({ page, member, sampleSite, modal }) => {
      const [north, tide] = member.organizations;
      await enter(page, member);
      const site = sampleSite(kind);
      await site.open();
      await site.requestAccess({ organization: tide.id });
      await expect(modal.organization(tide.fullName)).toBeChecked();
      await expect(modal.page.getByText(/requested by the app/i)).toBeVisible();
      await expect(modal.organization(north.fullName)).not.toBeChecked();
      await modal.authorize();
      await site.expectProfile("Organizations", `${tide.fullName} write`);
    });

    test("long-lasting access is renewed without the user", async ({ page, person, sampleSite, modal }) => {
      await enter(page, person);
      const site = sampleSite(kind);
      await site.open();
      await site.requestAccess({ scopes: ["email", "offline_access"] });
      await modal.authorize();
      await site.expectScopes(["openid", "profile", "email", "offline_access"]);
      for (let times = 0; times < 2; times++) {
        await site.renew();
        await site.callApiButton.click();
        await site.expectMessage("The API responded");
      }
    });

    test("prompt=none shows no page, and the error names what the user would have been asked", async ({
      page,
      person,
      sampleSite,
      modal,
    }) => {
      const site = sampleSite(kind);
      await site.open();
      await site.requestAccess({ showPage: "never" });
      await site.expectMessage("You are not signed in at the service");

      await enter(page, person);
      await site.open();
      await site.signInButton.click();
      await modal.cancel();
      await site.open();
      await site.requestAccess({ showPage: "never" });
      await site.expectMessage("Your consent is needed");
    });

    test("prompt=login asks for the password again", async ({ page, person, sampleSite, modal, signInAt }) => {
      const site = sampleSite(kind);
      await signInAt(site, person);

      await site.requestAccess({ showPage: "always, to sign in again" });
      await page.getByLabel("Password", { exact: true }).fill(person.password);
      await page.getByRole("button", { name: "Confirm" }).click();
      if (kind === "in the browser") await modal.authorize();
      await site.expectSignedIn(person.fullName);
    });

    test("prompt=consent shows the modal again, and the app loses the scopes that the user unticks", async ({
      person,
      sampleSite,
      modal,
      signInAt,
    }) => {
      const site = sampleSite(kind);
      await signInAt(site, person);
      await site.expectScopes(USUAL);

      await site.requestAccess({ showPage: "always, to give consent again" });
      await modal.scope("email").uncheck();
      await modal.authorize();
      await site.expectScopes(["openid", "profile", "read-repos"]);
      await site.expectProfile("E-mail address", "not shared");
    });

    test("signing out of the site signs out of the service too, once confirmed", async ({
      page,
      person,
      sampleSite,
      signInPage,
      signInAt,
    }) => {
      const site = sampleSite(kind);
      await signInAt(site, person);

      await site.signOut();
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await expect(page).toHaveURL(`${site.url}/`);
      await site.expectSignedOut();
      await site.signInButton.click();
      await signInPage.expectShown();
    });
  });
}

test("a second sign-in needs no click if the site authenticates with its secret", async ({
  page,
  person,
  sampleSite,
  signInAt,
}) => {
  const site = sampleSite("server side");
  await signInAt(site, person);

  await page.context().clearCookies({ domain: "127.0.0.1" });
  await site.open();
  await site.signInButton.click();
  await site.expectSignedIn(person.fullName);
  await site.requestAccess({ showPage: "never" });
  await site.expectSignedIn(person.fullName);
});

test("S29 a public site on this machine needs consent each time, and the page shows the site's existing access", async ({
  page,
  person,
  sampleSite,
  modal,
  signInAt,
}) => {
  const site = sampleSite("in the browser");
  await signInAt(site, person);

  await page.reload();
  await site.signInButton.click();
  await modal.expectShownFor(site.name);
  await expect(modal.page.getByText(/already granted/i)).toBeVisible();
  await modal.authorize();
  await site.expectSignedIn(person.fullName);
});

test("an unsolicited response signs nobody in", async ({ page, sampleSite }) => {
  for (const kind of kinds) {
    const site = sampleSite(kind);
    await page.goto(`${site.url}/callback?code=made-up&state=made-up`);
    await site.expectMessage("This sign-in was not started here");
  }
});
