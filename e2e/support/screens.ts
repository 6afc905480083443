import { generateKeyPairSync, randomBytes } from "node:crypto";
import { expect, type Page } from "@playwright/test";
import { admin } from "./admin.ts";
import { ConnectedApps } from "./connected-apps.ts";
import { contentScreens } from "./content-screens.ts";
import type { Demo } from "./demo.ts";
import { askForCode } from "./device.ts";
import { DevicePages } from "./device-pages.ts";
import { discussionScreens } from "./discussion-screens.ts";
import { enterAgain } from "./enter.ts";
import { hubClient } from "./hub.ts";
import { readLinkTo } from "./outbox.ts";
import { PermissionsModal } from "./permissions-modal.ts";
import { Repository } from "./sample-repository.ts";
import { SampleSite } from "./sample-site.ts";
import { serveDocument } from "./serve-document.ts";
import { type Person, SignInPage } from "./sign-in-page.ts";

/** What a screen needs to be reached. */
export type Visit = {
  page: Page;
  demo: Demo;
  /** Somebody new, with nothing of their own yet. */
  newcomer: Person;
};

export type Screen = { name: string; open: (visit: Visit) => Promise<void> };

/** Every screen there is, signed out and in, empty and full. */
export const screens: Screen[] = [
  ...[
    at("start", "/"),
    at("sign-in", "/login"),
    at("sign-up", "/signup"),
    at("forgot-password", "/forgot-password"),
    at("reset-password-expired", "/reset-password/no-such-token"),
    at("verify-email-expired", "/verify-email/no-such-token"),
    at("invitation-expired", "/invitations/no-such-token"),
    at("setup-expired", "/setup/no-such-token"),
    at("not-found", "/no-such/page", 404),
    at("authorization-error", "/oauth/authorize?client_id=no-such-app", 400),
    at("signed-out", "/oauth/logout/success"),
    at("consent-run-out", "/interaction/no-such-question", 410),
    at("about-consent", "/docs/consent"),
    at("docs", "/docs"),
    at("docs-not-found", "/docs?search=no+such+guide"),
    at("docs-sign-in", "/docs/sign-in"),
    at("docs-webhooks", "/docs/webhooks"),
    at("docs-events", "/docs/events"),
    at("docs-access", "/docs/access"),
    at("docs-badges", "/docs/badges"),
    at("models", "/models"),
    at("models-not-found", "/models?search=no+such+model"),
    at("repo-card", "/mara/tide-forecasts"),
    at("repo-gate-anonymous", "/datasets/aiko/storm-surges"),
  ],
  { name: "sign-in-refused", open: async ({ page }) => refuseSignIn(page) },
  { name: "sign-up-sent", open: async ({ page }) => void (await signUp(page)) },
  { name: "verify-email", open: async ({ page, demo }) => void (await page.goto(await readLinkTo(demo, await signUp(page)))) },
  { name: "forgot-password-sent", open: async ({ page, newcomer }) => forgetPassword(page, newcomer.email) },
  {
    name: "reset-password",
    async open({ page, demo }) {
      await forgetPassword(page, "jonas@example.test");
      await page.goto(await readLinkTo(demo, "jonas@example.test"));
    },
  },

  ...[
    as("newcomer", "start-newcomer", "/"),
    as("newcomer", "profile", "/settings/profile"),
    as("newcomer", "account", "/settings/account"),
    as("newcomer", "security", "/settings/security"),
    as("newcomer", "storage-empty", "/settings/storage"),
    as("newcomer", "linked-accounts-empty", "/settings/linked-accounts"),
    as("newcomer", "connected-apps-empty", "/settings/connected-applications"),
    as("newcomer", "apps-empty", "/settings/applications"),
    as("newcomer", "app-new", "/settings/applications/new"),
    as("newcomer", "tokens-empty", "/settings/tokens"),
    as("newcomer", "token-new", "/settings/tokens/new"),
    as("newcomer", "publishers-empty", "/settings/publishers"),
    as("newcomer", "publisher-new", "/settings/publishers/new?from=gitlab"),
    as("newcomer", "webhooks-empty", "/settings/webhooks"),
    as("newcomer", "webhook-new", "/settings/webhooks/new?watch=user:mara"),
    as("mara", "webhooks", "/settings/webhooks"),
    as("aiko", "organization-webhooks", "/organizations/tidepool/settings/webhooks"),
    as("newcomer", "jobs-empty", "/settings/jobs"),
    as("newcomer", "job-new", "/settings/jobs/new"),
    as("newcomer", "schedules-empty", "/settings/jobs/schedules"),
    as("newcomer", "schedule-new", "/settings/jobs/schedules/new"),
    as("newcomer", "organizations-empty", "/organizations"),
    as("newcomer", "organization-new", "/organizations/new"),
    as("newcomer", "reauthenticate", "/login?reauthenticate=1&next=/settings/account"),
    as("newcomer", "sign-out", "/logout"),
    as("mara", "start-member", "/"),
    as("mara", "person", "/mara"),
    as("mara", "organizations", "/organizations"),
    as("aiko", "organization", "/tidepool"),
    as("aiko", "organization-overview", "/organizations/tidepool"),
    as("aiko", "organization-app-policy", "/organizations/tidepool/settings/app-policy"),
    as("aiko", "organization-ownership", "/organizations/tidepool/settings/ownership"),
    as("opal", "admin-organizations", "/admin/organizations"),
    as("opal", "admin-organization-plan", "/admin/organizations/tidepool"),
    as("opal", "admin-storage", "/admin/storage"),
    as("opal", "admin-storage-not-found", "/admin/storage?search=no+such+owner"),
    as("opal", "admin-storage-quota", "/admin/storage/tidepool"),
    as("mara", "storage", "/settings/storage"),
    as("aiko", "organization-storage", "/organizations/tidepool/settings/storage"),
    as("aiko", "organization-members", "/organizations/tidepool/members"),
    as("aiko", "organization-member", "/organizations/tidepool/members/jonas"),
    as("aiko", "organization-apps", "/organizations/tidepool/settings/applications"),
    as("aiko", "organization-app-new", "/organizations/tidepool/settings/applications/new"),
    as("aiko", "organization-security", "/organizations/tidepool/settings/security"),
    as("aiko", "organization-settings", "/organizations/tidepool/settings"),
    as("aiko", "organization-jobs-empty", "/organizations/tidepool/settings/jobs"),
    as("aiko", "organization-publishers-empty", "/organizations/tidepool/settings/publishers"),
    as("aiko", "repo-publishers-empty", "/datasets/aiko/storm-surges/settings/publishers"),
    as("aiko", "repo-publisher-new", "/datasets/aiko/storm-surges/settings/publishers/new?from=oidc"),
    as("aiko", "apps", "/settings/applications"),
    as("aiko", "docs-sign-in-own-app", "/docs/sign-in"),
    as("newcomer", "docs-device-no-app", "/docs/device"),
    as("opal", "admin", "/admin"),
    as("opal", "admin-users", "/admin/users"),
    as("opal", "admin-users-not-found", "/admin/users?search=no+such+user"),
    as("opal", "admin-mail", "/admin/mail"),
    as("opal", "admin-outbound", "/admin/outbound?url=http://localhost/"),
    as("opal", "admin-keys", "/admin/keys"),
    as("opal", "admin-inference-empty", "/admin/inference"),
    as("newcomer", "inference-empty", "/settings/inference"),
    as("opal", "admin-apps", "/admin/apps"),
    as("opal", "admin-apps-not-found", "/admin/apps?search=no+such+app"),
    as("opal", "admin-hosts", "/admin/hosts"),
    as("opal", "admin-host-block", "/admin/hosts/block?host=app.example.com"),
    as("opal", "admin-registration", "/admin/registration"),
    as("opal", "admin-identity-providers", "/admin/identity-providers"),
    as("opal", "admin-platforms", "/admin/platforms"),
    as("newcomer", "gated-repos-empty", "/settings/gated-repos"),
    as("newcomer", "repo-new", "/new?type=space"),
    as("newcomer", "repo-gate", "/datasets/aiko/storm-surges"),
    as("mara", "repo-card-own", "/spaces/mara/tide-viewer"),
    as("aiko", "repo-settings", "/datasets/aiko/storm-surges/settings"),
    as("aiko", "repo-access", "/datasets/aiko/storm-surges/settings/access"),
    as("newcomer", "collections-empty", "/collections?owner=opal"),
    as("newcomer", "collection-new", "/collections/new"),
  ],
  {
    name: "organization-app-exchange",
    open: async (visit) => openApp(visit, "/organizations/tidepool/settings/applications", "Night Heron"),
  },
  {
    name: "publishers",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/publishers/new?from=github");
      await page.getByRole("textbox", { name: "Repository", exact: true }).fill(`octo/kite-${Date.now()}`);
      await page.getByRole("textbox", { name: "Branch or tag" }).fill("refs/heads/main");
      await page.getByRole("button", { name: "Trust these jobs" }).click();
      await page.getByText("What the pipeline has to do").waitFor();
    },
  },
  {
    name: "job",
    async open(visit) {
      const { page, demo } = visit;
      const hub = await hubClient(demo, { username: "mara" }, "jobs");
      const job = {
        dockerImage: "debian",
        command: ["sh", "-c", "echo Hello; exit 3"],
        flavor: "cpu-basic",
        secrets: { KEY: "secret" },
      };
      const { id } = await hub.send<{ id: string }>("POST", "/api/jobs/mara", job);
      await enterAgain(page, account(visit, "mara"));
      await go(page, `/settings/jobs/${id}`);
      await page.getByText("Failed", { exact: true }).first().waitFor();
    },
  },
  { name: "app", open: async (visit) => openApp(visit, "/settings/applications", "Paper Lantern") },
  {
    name: "organization-app",
    open: async (visit) => openApp(visit, "/organizations/tidepool/settings/applications", "Copper Kite"),
  },
  {
    name: "app-made",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/applications/new");
      await page.getByLabel("Name", { exact: true }).fill("Quiet Harbour");
      await page.getByRole("textbox", { name: "Redirect URIs" }).fill("https://harbour.example.com/callback");
      await page.getByLabel("Confidential").check();
      await page.getByRole("button", { name: "Create app" }).click();
      await page.getByText("Copy it now").waitFor();
    },
  },
  {
    name: "repo-card-empty",
    async open({ page, demo, newcomer }) {
      const repository = await Repository.make(demo, newcomer);
      await enterAgain(page, newcomer);
      await go(page, repository.path);
    },
  },
  {
    name: "repo-access-asked",
    async open({ page, demo, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/datasets/aiko/storm-surges");
      await page.getByLabel("Message").fill("For my thesis.\nThank you.");
      await page.getByRole("button", { name: "Share these and ask for access" }).click();
      await page.getByText("Nobody has answered yet.").waitFor();
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/datasets/aiko/storm-surges/settings/access");
    },
  },
  { name: "collection", open: async (visit) => void (await openCollection(visit)) },
  {
    name: "collection-edit",
    async open(visit) {
      await openCollection(visit);
      await visit.page.getByRole("link", { name: "Edit" }).click();
      await visit.page.getByRole("heading", { level: 1, name: "Edit collection" }).waitFor();
    },
  },
  {
    name: "collection-add",
    async open(visit) {
      await openCollection(visit);
      await go(visit.page, `/collections/add?type=model&repo=${visit.newcomer.username}/tides`);
    },
  },
  { name: "webhook", open: async (visit) => openWebhook(visit, "mara", "/settings/webhooks") },
  {
    name: "webhook-failing",
    open: async (visit) => openWebhook(visit, "aiko", "/organizations/tidepool/settings/webhooks"),
  },
  {
    name: "webhook-edit",
    async open(visit) {
      await openWebhook(visit, "mara", "/settings/webhooks");
      await visit.page.getByRole("link", { name: "Edit", exact: true }).click();
      await visit.page.getByRole("heading", { level: 1, name: "Edit webhook" }).waitFor();
    },
  },
  {
    name: "token-made",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/tokens/new");
      await page.getByLabel("Name", { exact: true }).fill("laptop");
      await page.getByLabel("Read your repositories, private ones too").check();
      await page.getByRole("button", { name: "Make token" }).click();
      await page.getByText("Copy it now").waitFor();
    },
  },
  {
    name: "invitation",
    async open({ page, demo, newcomer }) {
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/organizations/tidepool/members");
      await page.getByLabel("E-mail").fill(newcomer.email);
      await page.getByRole("button", { name: "Send invitation" }).click();
      const link = await readLinkTo(demo, newcomer.email, "/invitations/");
      await enterAgain(page, newcomer);
      await go(page, link);
    },
  },
  {
    name: "tokens",
    async open(visit) {
      await admin(visit.demo, "token", "create", "--user", "mara", "--scopes", "read-repos write-repos", "--expires", "30");
      await enterAgain(visit.page, account(visit, "mara"));
      await go(visit.page, "/settings/tokens");
    },
  },

  { name: "consent-no-organizations", open: async (visit) => askConsent(visit, "newcomer") },
  { name: "consent", open: async (visit) => askConsent(visit, "mara", { organization: visit.demo.organizations.tidepool?.id }) },
  {
    name: "consent-repeated",
    async open(visit) {
      await connect(visit, "aiko");
      await lantern(visit).ask({ scopes: ["email", "read-repos", "write-discussions"] });
      await new PermissionsModal(visit.page).authorizeButton.waitFor();
    },
  },
  {
    name: "connected-apps",
    async open(visit) {
      await connect(visit, "jonas");
      await new ConnectedApps(visit.page).open();
    },
  },
  {
    name: "sign-out-asked-by-app",
    async open(visit) {
      await connect(visit, "jonas");
      await lantern(visit).signOut();
      await visit.page.getByRole("button", { name: "Sign out", exact: true }).waitFor();
    },
  },
  as("mara", "device-code", "/activate"),
  { name: "device-code-prefilled", open: async (visit) => void (await openDevice(visit)) },
  {
    name: "device-code-wrong",
    async open(visit) {
      await enterAgain(visit.page, visit.newcomer);
      await new DevicePages(visit.page).enter("BCDF-GHJK");
      await visit.page.getByText("This code is not right").waitFor();
    },
  },
  { name: "device-confirm", open: async (visit) => void (await confirmDevice(visit)) },
  { name: "device-permissions", open: async (visit) => void (await allowDevice(visit)) },
  {
    name: "device-authorized",
    async open(visit) {
      const device = await allowDevice(visit);
      await device.modal.authorize();
      await device.expectTitle(/^You have authorized/);
    },
  },
  {
    name: "device-refused",
    async open(visit) {
      const device = await confirmDevice(visit);
      await device.notMeButton.click();
      await device.expectTitle("The device was refused");
    },
  },
  {
    name: "app-with-device-flow",
    open: async (visit) => openApp(visit, "/settings/applications", "Tin Whistle", "jonas"),
  },
  { name: "app-with-keys", open: async (visit) => openAppWithKeys(visit) },
  { name: "sample-server-side", open: async (visit) => lantern(visit).open() },
  { name: "sample-server-side-signed-in", open: async (visit) => connect(visit, "jonas") },
  {
    name: "consent-document",
    async open(visit) {
      await enterAgain(visit.page, account(visit, "mara"));
      await heron(visit).open();
      await heron(visit).signInButton.click();
      await new PermissionsModal(visit.page).authorizeButton.waitFor();
    },
  },
  {
    name: "consent-document-warned",
    async open({ page, demo, newcomer }) {
      const callback = "https://moss.example.com/oauth/callback/keyhook";
      const more = { client_name: "Moss Notebook", client_uri: "https://notes.example.com/", redirect_uris: [callback] };
      const { authorizeUrl } = await serveDocument(demo, more);
      await enterAgain(page, newcomer);
      await go(page, authorizeUrl(callback));
    },
  },
  {
    name: "document-refused",
    async open({ page, demo }) {
      const { authorizeUrl, clientId } = await serveDocument(demo, { client_name: undefined });
      await go(page, authorizeUrl(clientId), 400);
    },
  },
  {
    name: "admin-hosts-seen",
    async open(visit) {
      await connectHeron(visit, "aiko");
      await enterAgain(visit.page, account(visit, "opal"));
      await go(visit.page, "/admin/hosts?search=heron");
    },
  },
  { name: "sample-by-document", open: async (visit) => heron(visit).open() },
  { name: "sample-by-document-signed-in", open: async (visit) => connectHeron(visit, "aiko") },
  ...discussionScreens,
  ...contentScreens,
  { name: "sample-in-browser", open: async ({ page, demo }) => void (await page.goto(demo.sites.inBrowser)) },
];

/** @param status of the answer: a screen that is missing must not pass for one that is well made. */
function at(name: string, path: string, status = 200): Screen {
  return { name, open: ({ page }) => go(page, path, status) };
}

function as(who: string, name: string, path: string): Screen {
  return {
    name,
    async open(visit) {
      await enterAgain(visit.page, account(visit, who));
      await go(visit.page, path);
      // A session that was over by now would show another screen, which may well be accessible.
      if (!path.startsWith("/login")) expect(new URL(visit.page.url()).pathname).not.toBe("/login");
    },
  };
}

async function go(page: Page, path: string, status = 200): Promise<void> {
  const answer = await page.goto(path);
  expect(answer?.status(), `status of ${path}`).toBe(status);
}

/** @param who `newcomer`, or the username of one of the demo's people */
function account({ demo, newcomer }: Visit, who: string): Pick<Person, "username" | "password"> {
  return who === "newcomer" ? newcomer : { username: who, password: demo.password };
}

let collection: Promise<string> | undefined;

/** A collection of the newcomer's with something of each kind in it, made once for all screens of it. */
async function openCollection(visit: Visit): Promise<void> {
  collection ??= makeCollection(visit);
  await enterAgain(visit.page, visit.newcomer);
  await go(visit.page, `/collections/${await collection}`);
}

async function makeCollection({ demo, newcomer }: Visit): Promise<string> {
  const { username } = newcomer;
  const hub = await hubClient(demo, newcomer, "manage-repos write-collections");
  const title = `Shores ${randomBytes(3).toString("hex")}`;
  const { slug = "" } = await hub.send<{ slug?: string }>("POST", "/api/collections", {
    title,
    namespace: username,
    theme: "pink",
    description: "What lies between the highest and the lowest water.",
  });
  for (const [name, type, note] of [
    ["tides", "model", "Read this first.\nIt explains the others."],
    ["moons-of-the-outer-planets-and-their-names", "dataset", ""],
    ["harbour", "space", ""],
  ]) {
    await hub.send("POST", "/api/repos/create", { name, type, private: type === "space" });
    await hub.send("POST", `/api/collections/${slug}/items`, { item: { type, id: `${username}/${name}` }, note });
  }
  return slug;
}

async function openApp(visit: Visit, list: string, name: string, who = "aiko"): Promise<void> {
  await enterAgain(visit.page, account(visit, who));
  await go(visit.page, list);
  await visit.page.getByRole("link", { name }).click();
  await visit.page.getByRole("heading", { level: 1, name }).waitFor();
}

/** A webhook of the demo's, with the latest of its deliveries open. */
async function openWebhook(visit: Visit, who: string, list: string): Promise<void> {
  const { page } = visit;
  await enterAgain(page, account(visit, who));
  await go(page, list);
  await page.getByRole("list", { name: "Webhooks" }).getByRole("link").first().click();
  await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
  await page.getByRole("complementary", { name: /·/ }).waitFor();
}

/** An app of the newcomer's that has everything of the Security section, and whose next key was refused. */
async function openAppWithKeys({ page, demo, newcomer }: Visit): Promise<void> {
  const words = "--name Ferry --scopes openid --redirect-uri https://ferry.example/cb --confidential --par --dpop";
  const { id } = await admin<{ id: string }>(demo, "app", "create", "--owner", newcomer.username, ...words.split(" "));
  await enterAgain(page, newcomer);
  await go(page, `/settings/applications/${id}`);
  const keys = page.getByRole("textbox", { name: "Public keys" });
  await page.getByText("Use keys", { exact: true }).click();
  await keys.fill(generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" }).toString());
  await page.getByRole("button", { name: "Use these keys" }).click();
  await page.getByText("signs with Ed25519").waitFor();
  await page.getByText("Replace keys", { exact: true }).click();
  await keys.fill("not a key");
  await page.getByRole("button", { name: "Replace the keys" }).click();
  await expect(keys).toHaveAccessibleDescription(/neither JSON nor PEM/);
}

const lantern = ({ page, demo }: Visit) => new SampleSite(page, { kind: "server side", url: demo.sites.serverSide });

const heron = ({ page, demo }: Visit) => new SampleSite(page, { kind: "by document", url: demo.sites.byDocument });

async function connectHeron(visit: Visit, who: string): Promise<void> {
  const { authorizeButton } = new PermissionsModal(visit.page);
  await enterAgain(visit.page, account(visit, who));
  await heron(visit).open();
  await heron(visit).signInButton.click();
  // It answers on this device, so that it is asked about each time.
  await authorizeButton.click();
  await heron(visit).callApiButton.waitFor();
}

async function askConsent(visit: Visit, who: string, { organization }: { organization?: string } = {}): Promise<void> {
  const site = lantern(visit);
  await enterAgain(visit.page, account(visit, who));
  await site.open();
  await site.ask({ organization, scopes: ["email", "read-repos", "write-discussions"], showPage: "always, to decide anew" });
  await new PermissionsModal(visit.page).authorizeButton.waitFor();
}

/** Signs in at the sample site; whoever has been there before passes without the modal. */
async function connect(visit: Visit, who: string): Promise<void> {
  const site = lantern(visit);
  const { authorizeButton } = new PermissionsModal(visit.page);
  await enterAgain(visit.page, account(visit, who));
  await site.open();
  await site.signInButton.click();
  await authorizeButton.or(site.callApiButton).waitFor();
  if (await authorizeButton.isVisible()) await authorizeButton.click();
  await site.callApiButton.waitFor();
}

/** Mara opens the address behind a device's QR code. */
async function openDevice(visit: Visit): Promise<{ device: DevicePages; userCode: string }> {
  const { user_code, verification_uri_complete } = await askForCode(visit.demo);
  await enterAgain(visit.page, account(visit, "mara"));
  await go(visit.page, verification_uri_complete);
  return { device: new DevicePages(visit.page), userCode: user_code };
}

async function confirmDevice(visit: Visit): Promise<DevicePages> {
  const { device, userCode } = await openDevice(visit);
  await device.continueButton.click();
  await device.expectAsked(userCode);
  return device;
}

async function allowDevice(visit: Visit): Promise<DevicePages> {
  const device = await confirmDevice(visit);
  await device.continueButton.click();
  await device.modal.authorizeButton.waitFor();
  return device;
}

async function refuseSignIn(page: Page): Promise<void> {
  await page.goto("/login");
  await new SignInPage(page).signIn({ username: "mara", password: "not the password" });
  await expect(page.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/wrong/);
}

/** @returns the address to which the letter goes */
async function signUp(page: Page): Promise<string> {
  const username = `n${randomBytes(5).toString("hex")}`;
  const email = `${username}@example.test`;
  await page.goto("/signup");
  await page.getByLabel("Username", { exact: true }).fill(username);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(randomBytes(12).toString("hex"));
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText(email).waitFor();
  return email;
}

async function forgetPassword(page: Page, email: string): Promise<void> {
  await page.goto("/forgot-password");
  await page.getByLabel("E-mail of your account").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText(email).waitFor();
}
