import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { Administration } from "./support/administration.ts";
import { ConnectedApps } from "./support/connected-apps.ts";
import { enter } from "./support/enter.ts";
import type { PermissionsModal } from "./support/permissions-modal.ts";
import { SampleSite } from "./support/sample-site.ts";
import { DOCUMENT_KEPT_MS } from "./support/serve-document.ts";

/** A website, in contrast to a program on this device. No server responds at this host name. */
const WEBSITE = "https://moss.example.test";
const CALLBACK = `${WEBSITE}/oauth/callback/keyhook`;

async function authorizeForWebsite(page: Page, modal: PermissionsModal): Promise<void> {
  const [request] = await Promise.all([page.waitForRequest((request) => request.url().startsWith(CALLBACK)), modal.authorize()]);
  expect(new URL(request.url()).searchParams.has("code")).toBe(true);
}

async function leadsTo(page: Page, authorizeUrl: string): Promise<string> {
  const answer = await page.request.get(authorizeUrl, { maxRedirects: 0 });
  return answer.headers().location ?? "";
}

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("a user signs in to an unregistered site, sees where the site comes from, and revokes its access", async ({
      page,
      demo,
      member,
      sampleSite,
      signInPage,
      modal,
    }) => {
      const [north] = member.organizations;
      const site = sampleSite("by document");
      const { host } = new URL(demo.sites.byDocument);
      await site.open();
      await site.signInButton.click();
      await signInPage.signIn(member);

      await modal.expectShownFor(site.name);
      await expect(page.getByText("Identified only by its website")).toBeVisible();
      await expect(page.getByText(host, { exact: true }).first()).toBeVisible();
      await expect(page.getByText("Not verified by Keyhook")).toBeVisible();
      // The app's logo is served from our origin, not from the site (S24, S82).
      expect(await page.locator("img[src^='/images/']").count()).toBeGreaterThan(0);
      expect(await page.locator(`img[src*="${host}"]`).count()).toBe(0);
      await modal.organization(north.fullName).check();
      await modal.scope("read-repos").uncheck();
      await modal.authorize();

      await site.expectSignedIn(member.fullName);
      await site.expectScopes(["openid", "profile", "email"]);
      await site.expectProfile("Organizations", `${north.fullName} admin`);
      await site.callApiButton.click();
      await site.expectMessage("The API responded");

      const settings = await page.context().newPage();
      const connectedApps = new ConnectedApps(settings);
      await connectedApps.open();
      await expect(connectedApps.app(site.name).first()).toContainText(`From ${host}`);
      await connectedApps.revoke(site.name);
      await site.callApiButton.click();
      await site.expectMessage("Access has ended");
    });
  });
}

test("a denial is reported to the site, and signing out of the site ends its session", async ({
  page,
  person,
  sampleSite,
  modal,
}) => {
  await enter(page, person);
  const site = sampleSite("by document");
  await site.open();
  await site.signInButton.click();
  await modal.cancel();
  await site.expectMessage("You did not authorize this site");
  await site.signInButton.click();
  await modal.authorize();
  await site.expectSignedIn(person.fullName);
  await site.signOut();
  await site.expectSignedOut();
});

test("S26 S83 S88 the page distinguishes the app's source, the app's own claims, and where the user will return", async ({
  page,
  person,
  serveDocument,
}) => {
  const { host, clientId, authorizeUrl } = await serveDocument({
    client_uri: "https://somewhere-else.example.test/about",
    redirect_uris: [CALLBACK],
  });
  await enter(page, person);
  await page.goto(authorizeUrl(CALLBACK));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Moss Notebook wants to access your Keyhook account");
  await expect(page.getByText(host, { exact: true }).first()).toBeVisible();
  await expect(page.getByTitle(clientId)).toContainText("/.well-known/oauth-cimd");
  const homepage = page.getByRole("link", { name: "somewhere-else.example.test" });
  await expect(homepage).toHaveAttribute("rel", "noopener noreferrer nofollow");
  await expect(page.getByText("Homepage, according to the app")).toBeVisible();
  await expect(page.getByRole("status")).toHaveText(
    `You will return to moss.example.test, a different website from ${host}, where this app comes from. Continue only if you know that the two belong together.`,
  );
  await expect(page.getByText(/You’ll be redirected to moss\.example\.test/)).toBeVisible();
  await expectAccessible(page);
});

test("S27 for an app whose redirect URI is on this device, the page names the website that describes the app", async ({
  page,
  person,
  serveDocument,
}) => {
  const callback = "http://127.0.0.1:45678/callback";
  // Agents register the loopback address without a port, so that any port is accepted.
  const { host, authorizeUrl } = await serveDocument({ redirect_uris: ["http://127.0.0.1/callback"] });
  await enter(page, person);
  await page.goto(authorizeUrl(callback));
  await expect(page.getByRole("status")).toContainText(
    `any program can call itself Moss Notebook and claim to be from ${host}. Continue only if you have just started it yourself.`,
  );
  await expect(page.getByText("a different website from")).toHaveCount(0);
});

test("S28 an app's name is shown as text, and stays within its box", async ({ page, person, serveDocument }) => {
  const name = "<img src=x onerror=alert(1)> משחק & Co";
  const path = `/${"a-very-long-path-without-any-space".repeat(20)}`;
  const { authorizeUrl } = await serveDocument({
    client_name: name,
    client_uri: `https://${"long-label-of-a-host.".repeat(9)}example.test${path}`,
    redirect_uris: [`https://${"another-long-label.".repeat(9)}example.test/callback`],
  });
  await enter(page, person);
  await page.goto(authorizeUrl(`https://${"another-long-label.".repeat(9)}example.test/callback`));
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText(`${name} wants to access your Keyhook account`);
  await expect(heading.locator("bdi")).toHaveText(name);
  expect(await page.locator("main img[onerror]").count()).toBe(0);
  await expectAccessible(page);
});

test("S29 S36 a consent is remembered until the document changes", async ({ page, person, serveDocument, modal }) => {
  test.slow();
  const { authorizeUrl, change } = await serveDocument({ redirect_uris: [CALLBACK] });
  await enter(page, person);
  await page.goto(authorizeUrl(CALLBACK));
  await authorizeForWebsite(page, modal);
  expect(await leadsTo(page, authorizeUrl(CALLBACK))).toMatch(/^https:\/\/moss\.example\.test\/.*[?&]code=/);

  change({ client_name: "Fern Notebook" });
  const expectAsked = async () => expect(await leadsTo(page, authorizeUrl(CALLBACK))).toContain("/interaction/");
  await expect(expectAsked).toPass({ timeout: DOCUMENT_KEPT_MS + 20_000, intervals: [3_000] });
  await page.goto(authorizeUrl(CALLBACK));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Fern Notebook wants to access your Keyhook account");
  await expect(page.getByRole("status").first()).toContainText(
    "Since then it has changed its name, its logo or where it sends you",
  );
  await authorizeForWebsite(page, modal);
  expect(await leadsTo(page, authorizeUrl(CALLBACK))).toContain("code=");
});

test("a document that breaks a rule is refused in words that its developer can use", async ({ page, person, serveDocument }) => {
  await enter(page, person);
  for (const [fields, rule] of [
    [{ client_name: undefined }, /client_name: The document must contain the app's name/],
    [{ redirect_uris: undefined }, /redirect_uris: The document must list the URIs/],
    [{ redirect_uris: ["http://moss.example.test/callback"] }, /redirect_uris: .*https/],
    [{ client_id: "https://moss.example.test/.well-known/oauth-cimd" }, /client_id: This must be exactly the URL/],
    [{ client_secret: "s3cret" }, /client_secret: A public document must not contain a secret/],
    [{ token_endpoint_auth_method: "client_secret_basic" }, /token_endpoint_auth_method: Choose one of/],
    [{ client_uri: "https://moss.example.test/", tos_uri: `https://moss.example.test/${"x".repeat(6_000)}` }, /5120 bytes|5,120/],
  ] as const) {
    const { authorizeUrl } = await serveDocument(fields);
    const answer = await page.goto(authorizeUrl(CALLBACK));
    expect(answer?.status(), String(rule)).toBe(400);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This app cannot be identified");
    await expect(page.getByText(rule)).toBeVisible();
  }
});

// Systems other than Linux would need `sudo ifconfig lo0 alias 127.0.0.2` first.
const hasOtherHost = process.platform === "linux";

(hasOtherHost ? test : test.skip)(
  "S87 an operator blocks the host, and its apps lose their access at once",
  async ({ page, browser, demo, person, documentSite: { url, host }, signInAt }) => {
    test.slow();
    const site = new SampleSite(page, { kind: "by document", url });
    await signInAt(site, person);
    await site.callApiButton.click();
    await site.expectMessage("The API responded");

    const context = await browser.newContext({ baseURL: demo.origin });
    const administration = new Administration(await context.newPage());
    await administration.enter(demo);
    await administration.beginBlockingHost(host, "reported by a test");
    await expect(administration.page.getByText("1 app was seen there; 1 person loses access.")).toBeVisible();
    await expect(administration.page.getByText(`${url}/.well-known/oauth-cimd`)).toBeVisible();
    await administration.confirmBlockingHost();

    await site.callApiButton.click();
    await site.expectMessage("Access has ended");
    await page.goto(`${url}/sign-in`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This app is not allowed here");
    await expect(page.getByText(`does not allow apps of ${host}`)).toBeVisible();
    const seen = administration.page.getByRole("list", { name: "Apps seen" }).getByRole("listitem").filter({ hasText: url });
    await expect(seen).toContainText(/Blocked.*Slate Heron.*no users yet/s);

    await administration.removeRule(host);
    await context.close();
    await page.goto(`${url}/sign-in`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Slate Heron wants to access your Keyhook account");
  },
);
