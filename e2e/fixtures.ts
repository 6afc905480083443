import { randomBytes } from "node:crypto";
import { type BrowserContext, test as base } from "@playwright/test";
import { admin } from "./support/admin.ts";
import { browser as browserOptions } from "./support/browser.ts";
import type { Demo } from "./support/demo.ts";
import { DevicePages } from "./support/device.ts";
import { enter } from "./support/enter.ts";
import { PermissionsModal } from "./support/permissions-modal.ts";
import { type RunningSite, runDocumentSite } from "./support/run-document-site.ts";
import { SampleSite, type SiteKind } from "./support/sample-site.ts";
import { type DocumentFields, type ServedDocument, serveDocument } from "./support/serve-document.ts";
import { type Person, SignInPage } from "./support/sign-in-page.ts";

export { expect } from "@playwright/test";

export type Member = Person & { organizations: [Organization, Organization] };
type Organization = { id: string; name: string; fullName: string };

type Fixtures = {
  person: Person;
  member: Member;
  another: Person;
  signInPage: SignInPage;
  modal: PermissionsModal;
  devicePages: DevicePages;
  sampleSite: (kind: SiteKind) => SampleSite;
  serveDocument: (fields?: DocumentFields) => Promise<ServedDocument>;
  documentSite: RunningSite;
  signInAt: (site: SampleSite, person: Person) => Promise<void>;
};

const siteKeys = { "server side": "serverSide", "in the browser": "inBrowser", "by document": "byDocument" } as const;

type WorkerFixtures = {
  demo: Demo;
  /** All stories of a worker share one context with JavaScript and one without, so that Chromium compiles our scripts once. */
  keptContext: (javaScriptEnabled: boolean) => Promise<BrowserContext>;
  newcomer: Person;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads which fixtures are wanted from this pattern.
    async ({}, use) => use(JSON.parse(process.env.KEYHOOK_E2E_DEMO ?? "")),
    { scope: "worker" },
  ],
  newcomer: [async ({ demo }, use) => use(await makePerson(demo)), { scope: "worker" }],
  keptContext: [
    async ({ browser, demo }, use) => {
      const kept = new Map<boolean, Promise<BrowserContext>>();
      await use((javaScriptEnabled) => {
        const options = { ...browserOptions?.contextOptions, baseURL: demo.origin, ignoreHTTPSErrors: true, javaScriptEnabled };
        const context = kept.get(javaScriptEnabled) ?? browser.newContext(options);
        kept.set(javaScriptEnabled, context);
        return context;
      });
      for (const context of kept.values()) await (await context).close();
    },
    { scope: "worker" },
  ],
  baseURL: ({ demo }, use) => use(demo.origin),
  // A story's pages and cookies are removed. Its rows in the database stay, because no other story knows its users.
  context: async ({ keptContext, javaScriptEnabled }, use) => {
    const context = await keptContext(javaScriptEnabled ?? true);
    await use(context);
    for (const page of context.pages()) await page.close();
    await context.unrouteAll({ behavior: "ignoreErrors" });
    await context.clearCookies();
  },
  person: async ({ demo }, use) => use(await makePerson(demo)),
  another: async ({ demo }, use) => use(await makePerson(demo)),
  member: async ({ demo, person }, use) => use({ ...person, organizations: await makeOrganizations(demo, person) }),
  signInPage: ({ page }, use) => use(new SignInPage(page)),
  modal: ({ page }, use) => use(new PermissionsModal(page)),
  devicePages: ({ page }, use) => use(new DevicePages(page)),
  sampleSite: ({ demo, page }, use) => use((kind) => new SampleSite(page, { kind, url: demo.sites[siteKeys[kind]] })),
  serveDocument: async ({ demo }, use) => {
    const served: ServedDocument[] = [];
    await use(async (fields = {}) => {
      const document = await serveDocument(demo, fields);
      served.push(document);
      return document;
    });
    await Promise.all(served.map((document) => document.close()));
  },
  documentSite: async ({ demo }, use) => {
    const site = await runDocumentSite(demo);
    await use(site);
    await site.stop();
  },
  signInAt: ({ page, modal }, use) =>
    use(async (site, person) => {
      await enter(page, person);
      await site.open();
      await site.signInButton.click();
      await modal.authorize();
      await site.expectSignedIn(person.fullName);
    }),
});

async function makePerson(demo: Demo): Promise<Person> {
  const username = `p${randomBytes(5).toString("hex")}`;
  const person = {
    username,
    fullName: `Person ${username}`,
    email: `${username}@example.test`,
    password: randomBytes(12).toString("hex"),
  };
  const account = [
    "--username",
    username,
    "--full-name",
    person.fullName,
    "--email",
    person.email,
    "--password",
    person.password,
  ];
  await admin(demo, "user", "create", ...account);
  return person;
}

async function makeOrganizations(demo: Demo, { username }: Person): Promise<[Organization, Organization]> {
  const [own, other] = await Promise.all([
    makeOrganization(demo, { name: `north-${username}`, fullName: `North ${username}`, owner: username }),
    makeOrganization(demo, { name: `tide-${username}`, fullName: `Tide ${username}`, owner: "jonas" }),
  ]);
  await admin(demo, "org", "add-member", "--org", other.name, "--user", username, "--role", "write");
  return [own, other];
}

async function makeOrganization(
  demo: Demo,
  { owner, ...organization }: Omit<Organization, "id"> & { owner: string },
): Promise<Organization> {
  const { name, fullName } = organization;
  const { id } = await admin<{ id: string }>(demo, "org", "create", "--name", name, "--full-name", fullName, "--owner", owner);
  return { id, ...organization };
}
