import { randomBytes } from "node:crypto";
import { test as base } from "@playwright/test";
import { admin } from "./support/admin.ts";
import type { Demo } from "./support/demo.ts";
import { DevicePages } from "./support/device-pages.ts";
import { PermissionsModal } from "./support/permissions-modal.ts";
import { type RunningSite, runDocumentSite } from "./support/run-document-site.ts";
import { SampleSite, type SiteKind } from "./support/sample-site.ts";
import { type DocumentFields, type ServedDocument, serveDocument } from "./support/serve-document.ts";
import { type Person, SignInPage } from "./support/sign-in-page.ts";

export { expect } from "@playwright/test";

/** A person and the two organizations that only they are in: `admin` of the first, `write` in the second. */
export type Member = Person & { organizations: [Organization, Organization] };
type Organization = { id: string; name: string; fullName: string };

type Fixtures = {
  /** Somebody new, so that no spec sees what another one left behind. */
  person: Person;
  member: Member;
  another: Person;
  signInPage: SignInPage;
  modal: PermissionsModal;
  devicePages: DevicePages;
  sampleSite: (kind: SiteKind) => SampleSite;
  /** Serves a metadata document for as long as the test runs. */
  serveDocument: (fields?: DocumentFields) => Promise<ServedDocument>;
  /** One more site with a document, at a host that is nobody else's. */
  documentSite: RunningSite;
  /** Signs somebody in at a sample site who agrees to all that it usually asks for. */
  signInAt: (site: SampleSite, person: Person) => Promise<void>;
};

const siteKeys = { "server side": "serverSide", "in the browser": "inBrowser", "by document": "byDocument" } as const;

type WorkerFixtures = {
  demo: Demo;
  /** Somebody new, for specs that only look. */
  newcomer: Person;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads which fixtures are wanted from this pattern.
    async ({}, use) => use(JSON.parse(process.env.KEYHOOK_E2E_DEMO ?? "")),
    { scope: "worker" },
  ],
  newcomer: [async ({ demo }, use) => use(await makePerson(demo)), { scope: "worker" }],
  baseURL: ({ demo }, use) => use(demo.origin),
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
  signInAt: ({ signInPage, modal }, use) =>
    use(async (site, person) => {
      await site.open();
      await site.signInButton.click();
      await signInPage.signIn(person);
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
