import { ConnectedApps } from "./connected-apps.ts";
import { askForCode, DevicePages } from "./device.ts";
import { enterAgain } from "./enter.ts";
import { PermissionsModal, underMouse } from "./permissions-modal.ts";
import { SampleSite } from "./sample-site.ts";
import { account, as, go, type Screen, type Visit } from "./screen.ts";
import { serveDocument } from "./serve-document.ts";

export const consentScreens: Screen[] = [
  { name: "consent-no-organizations", open: async (visit) => askConsent(visit, "newcomer") },
  { name: "consent", open: async (visit) => askConsent(visit, "mara", { organization: visit.demo.organizations.tidepool?.id }) },
  {
    name: "consent-all-organizations",
    async open(visit) {
      await askConsent(visit, "mara");
      await visit.page.getByRole("checkbox", { name: "All current and future organizations" }).check();
    },
  },
  {
    name: "sign-in-for-app",
    async open(visit) {
      await visit.page.context().clearCookies();
      await lantern(visit).open();
      await lantern(visit).signInButton.click();
      await visit.page.getByText("to continue to Paper Lantern").waitFor();
    },
  },
  {
    name: "consent-repeated",
    async open(visit) {
      await connect(visit, "aiko");
      await lantern(visit).requestAccess({ scopes: ["email", "read-repos", "write-discussions"] });
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
    name: "connected-apps-reduce",
    async open(visit) {
      await connect(visit, "jonas");
      await new ConnectedApps(visit.page).open();
      await visit.page.getByText("Reduce access").first().click();
    },
  },
  {
    name: "connected-apps-revoke",
    async open(visit) {
      await connect(visit, "jonas");
      await new ConnectedApps(visit.page).open();
      await visit.page.getByText("Revoke", { exact: true }).first().click();
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
      await visit.page.getByText("This code is incorrect").waitFor();
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
      await device.expectTitle("Access denied");
    },
  },
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
];

const lantern = ({ page, demo }: Visit) => new SampleSite(page, { kind: "server side", url: demo.sites.serverSide });

const heron = ({ page, demo }: Visit) => new SampleSite(page, { kind: "by document", url: demo.sites.byDocument });

async function connectHeron(visit: Visit, who: string): Promise<void> {
  const { authorizeButton } = new PermissionsModal(visit.page);
  await enterAgain(visit.page, account(visit, who));
  await heron(visit).open();
  await heron(visit).signInButton.click();
  // The site receives its code on this device, so it needs consent each time.
  await (await underMouse(authorizeButton)).click();
  await heron(visit).callApiButton.waitFor();
}

async function askConsent(visit: Visit, who: string, { organization }: { organization?: string } = {}): Promise<void> {
  const site = lantern(visit);
  await enterAgain(visit.page, account(visit, who));
  await site.open();
  await site.requestAccess({
    organization,
    scopes: ["email", "read-repos", "write-discussions"],
    showPage: "always, to give consent again",
  });
  await new PermissionsModal(visit.page).authorizeButton.waitFor();
}

async function connect(visit: Visit, who: string): Promise<void> {
  const site = lantern(visit);
  const { authorizeButton } = new PermissionsModal(visit.page);
  await enterAgain(visit.page, account(visit, who));
  await site.open();
  await site.signInButton.click();
  await authorizeButton.or(site.callApiButton).waitFor();
  if (await authorizeButton.isVisible()) await (await underMouse(authorizeButton)).click();
  await site.callApiButton.waitFor();
}

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
  await (await underMouse(device.continueButton)).click();
  await device.modal.authorizeButton.waitFor();
  return device;
}
