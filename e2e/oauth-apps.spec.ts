import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import type { APIRequestContext, Page } from "@playwright/test";
import { SignJWT } from "jose";
import { expect, test } from "./fixtures.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";
import type { Person } from "./support/sign-in-page.ts";

async function open(page: Page, path: string, person: Person): Promise<void> {
  await enter(page, person);
  await page.goto(path);
}

const openTab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "App", exact: true }).getByRole("link", { name }).click();

const redirectUris = (page: Page) => page.getByRole("textbox", { name: "After sign-in" });

async function fillNewApp(page: Page, name: string, uris: string): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await redirectUris(page).fill(uris);
}

type Credentials = { clientId: string; secret: string };

async function shownCredentials(page: Page, before?: Credentials): Promise<Credentials> {
  const secret = page.locator("main code", { hasText: /^kh_secret_/ });
  await expect.poll(async () => (await secret.allTextContents()).filter((text) => text !== before?.secret)).toHaveLength(1);
  const clientId = await page
    .locator("main code", { hasText: /^[0-9a-f-]{36}$/ })
    .first()
    .textContent();
  return { clientId: clientId ?? "", secret: (await secret.textContent()) ?? "" };
}

async function areAccepted(
  request: APIRequestContext,
  { clientId, secret }: { clientId: string; secret: string },
): Promise<boolean> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
  const answer = await request.post("/oauth/introspect", { headers: { authorization }, form: { token: "unknown" } });
  expect([200, 401]).toContain(answer.status());
  return answer.status() === 200;
}

/** Authenticates the app by a client assertion (RFC 7523). */
async function isKeyAccepted(request: APIRequestContext, clientId: string, key: KeyObject): Promise<boolean> {
  const { issuer } = await (await request.get("/.well-known/openid-configuration")).json();
  const client_assertion = await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setExpirationTime("1 minute")
    .sign(key);
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const form = { token: "unknown", client_assertion, client_assertion_type };
  const answer = await request.post("/oauth/introspect", { form });
  expect([200, 401]).toContain(answer.status());
  return answer.status() === 200;
}

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("an app is created, its secret is rotated and deleted, with immediate effect (S52)", async ({
      page,
      person,
      request,
    }) => {
      await open(page, "/settings/applications", person);
      await expect(page.getByText("No apps yet")).toBeVisible();
      await page.getByRole("link", { name: "New app" }).click();

      await fillNewApp(page, "Paper Lantern", "http://app.example.com/cb\nhttps://app.example.com/cb");
      await page.getByLabel("Confidential").check();
      await page.getByLabel("Read your repositories, including private ones").check();
      // The response restores the submitted values. The page reports the error earlier, when the field loses the focus.
      const answer = page.waitForResponse((response) => response.request().method() === "POST");
      await page.getByRole("button", { name: "Create app" }).click();
      await answer;
      await expect(page.getByRole("button", { name: "Create app" })).toBeEnabled();
      await expect(redirectUris(page)).toHaveAccessibleDescription(/Use https|cannot be used/);
      await expect(page.getByLabel("Confidential")).toBeChecked();
      await expect(page.getByLabel("Read your repositories, including private ones")).toBeChecked();

      await redirectUris(page).fill("https://app.example.com/cb");
      await page.getByRole("button", { name: "Create app" }).click();
      await expect(page.getByRole("heading", { name: "Paper Lantern is ready" })).toBeVisible();
      const first = await shownCredentials(page);
      expect(await areAccepted(request, first)).toBe(true);

      await page.getByRole("link", { name: "Go to the app" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toContainText("Paper Lantern");
      expect(await page.content()).not.toContain(first.secret);

      await page.getByText("Rotate secret", { exact: true }).click();
      await page.getByLabel("Old secret expires").selectOption({ label: "in 1 hour" });
      await page.getByRole("button", { name: "Create new secret" }).click();
      const second = await shownCredentials(page, first);
      expect(await Promise.all([first, second].map((each) => areAccepted(request, each)))).toEqual([true, true]);

      await page.getByText("Rotate secret", { exact: true }).click();
      await page.getByRole("button", { name: "Create new secret" }).click();
      const third = await shownCredentials(page, second);
      expect(await Promise.all([first, second, third].map((each) => areAccepted(request, each)))).toEqual([false, false, true]);

      await page.getByText("Delete secret", { exact: true }).click();
      await page.getByRole("button", { name: "Delete the secret" }).click();
      await expect(page.getByText("is now a public app")).toBeVisible();
      await expect(page.getByText("Public", { exact: true })).toBeVisible();
      expect(await areAccepted(request, third)).toBe(false);
    });

    test("an app is changed, and deleting it asks for its name", async ({ page, person }) => {
      await open(page, "/settings/applications/new", person);
      await fillNewApp(page, "Kite", "com.example.kite:/cb");
      await page.getByRole("button", { name: "Create app" }).click();
      await expect(page.getByText("The app is ready")).toBeVisible();

      const addresses = page.getByRole("form", { name: "Redirect URIs" });
      await redirectUris(page).fill("com.example.kite:/cb\nhttp://localhost/cb");
      await addresses.getByRole("button", { name: "Save" }).click();
      await expect(addresses.getByText("Saved.")).toBeVisible();

      await openTab(page, "Permissions");
      const permissions = page.getByRole("form", { name: "Permissions and tokens" });
      await permissions.getByLabel("See your e-mail address").check();
      await expect(permissions.getByLabel("Require PKCE")).toBeDisabled();
      await permissions.getByRole("button", { name: "Save" }).click();
      await expect(permissions.getByText("Saved.")).toBeVisible();

      await page.reload();
      await expect(permissions.getByLabel("See your e-mail address")).toBeChecked();
      await openTab(page, "Connect");
      await expect(redirectUris(page)).toHaveValue("com.example.kite:/cb\nhttp://localhost/cb");

      await openTab(page, "Danger");
      await page.getByText("Delete app", { exact: true }).click();
      await page.getByRole("button", { name: "Delete Kite" }).click();
      await expect(page.getByLabel("Type Kite to confirm")).toHaveAccessibleDescription("Type Kite to confirm.");
      await page.getByLabel("Type Kite to confirm").fill("Kite");
      await page.getByRole("button", { name: "Delete Kite" }).click();
      await expect(page.getByText("App deleted")).toBeVisible();
      await expect(page.getByText("No apps yet")).toBeVisible();
    });

    test("keys replace a secret, and an app's requirements and its sign-out URL are stored (S52, S72)", async ({
      page,
      person,
      request,
    }) => {
      await open(page, "/settings/applications/new", person);
      await fillNewApp(page, "Night ferry", "https://ferry.example/cb");
      await page.getByLabel("Confidential").check();
      await page.getByRole("button", { name: "Create app" }).click();
      const credentials = await shownCredentials(page);
      await page.getByRole("link", { name: "Go to the app" }).click();

      await openTab(page, "Security");
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const pem = (key: KeyObject) => key.export({ format: "pem", type: key === privateKey ? "pkcs8" : "spki" }).toString();
      const keys = page.getByRole("textbox", { name: "Public keys" });
      await page.getByText("Use keys", { exact: true }).click();
      await keys.fill(pem(privateKey));
      await page.getByRole("button", { name: "Use these keys" }).click();
      await expect(keys).toHaveAccessibleDescription(/create a new key pair/i);
      await expect(keys).toHaveValue("");
      expect(await page.content()).not.toContain(pem(privateKey).split("\n")[1]);
      expect(await areAccepted(request, credentials)).toBe(true);

      await keys.fill(pem(publicKey));
      await page.getByRole("button", { name: "Use these keys" }).click();
      await expect(page.getByText("The app now authenticates with its keys")).toBeVisible();
      await expect(page.getByText("signs with ES256")).toBeVisible();
      await expect(page.getByText("Confidential", { exact: true })).toBeVisible();
      expect(await areAccepted(request, credentials)).toBe(false);
      expect(await isKeyAccepted(request, credentials.clientId, privateKey)).toBe(true);

      const requirements = page.getByRole("form", { name: "Requirements" });
      await requirements.getByLabel("Require pushed requests").check();
      await requirements.getByLabel("Require proof of possession").check();
      await requirements.getByRole("button", { name: "Save" }).click();
      await expect(requirements.getByText("Saved.")).toBeVisible();
      await openTab(page, "Connect");
      await expect(page.getByLabel("Node example", { exact: true })).toContainText("buildAuthorizationUrlWithPAR");
      await expect(page.getByRole("button", { name: "Add a secret" })).toHaveCount(0);

      await openTab(page, "Security");
      const notice = page.getByRole("form", { name: "Sign-out notices" });
      const address = notice.getByLabel("URL of your server");
      await address.fill("http://ferry.example/logout");
      await notice.getByRole("button", { name: "Save URL" }).click();
      await expect(address).toHaveAccessibleDescription(/begins with https/);
      await address.fill("https://ferry.example/logout");
      await notice.getByRole("button", { name: "Save URL" }).click();
      await expect(notice.getByText("is now notified of sign-outs")).toBeVisible();

      await page.reload();
      await expect(requirements.getByLabel("Require pushed requests")).toBeChecked();
      await expect(requirements.getByLabel("Require proof of possession")).toBeChecked();
      await expect(address).toHaveValue("https://ferry.example/logout");

      const profile = page.getByRole("form", { name: "Security profile" });
      await profile.getByLabel("FAPI 2.0").check();
      await profile.getByRole("button", { name: "Save profile" }).click();
      await expect(profile.getByText("must now comply with FAPI 2.0")).toBeVisible();
      await expect(requirements).toHaveCount(0);
      await openTab(page, "Connect");
      await expect(page.getByLabel("Node example", { exact: true })).toContainText("id_token_signed_response_alg");
      await openTab(page, "Security");
      await profile.getByLabel("Standard").check();
      await profile.getByRole("button", { name: "Save profile" }).click();
      await expect(requirements.getByLabel("Require pushed requests")).toBeChecked();

      await page.getByText("Delete keys", { exact: true }).click();
      await page.getByRole("button", { name: "Delete the keys" }).click();
      await expect(page.getByText("Keys deleted")).toBeVisible();
      await expect(page.getByText("Public", { exact: true })).toBeVisible();
      expect(await isKeyAccepted(request, credentials.clientId, privateKey)).toBe(false);
    });

    test("an access token is created, works, and is refused once it is revoked", async ({ page, person, request }) => {
      await open(page, "/settings/tokens", person);
      await page.getByRole("link", { name: "New token" }).click();
      await page.getByLabel("Name", { exact: true }).fill("laptop");
      await page.getByRole("button", { name: "Create token" }).click();
      await expect(page.getByRole("alert").getByText("Choose at least one scope.")).toBeVisible();
      await page.getByLabel("Read your repositories, including private ones").check();
      await page.getByRole("button", { name: "Create token" }).click();
      const token = await page.locator("main code", { hasText: /^kh_/ }).textContent();
      const whoami = () => request.get("/api/whoami-v2", { headers: { authorization: `Bearer ${token}` } });
      expect((await whoami()).status()).toBe(200);

      await page.getByRole("link", { name: "Done" }).click();
      await expect(page.getByText("last used just now")).toBeVisible();
      expect(await page.content()).not.toContain(token);
      await page.getByText("Revoke", { exact: true }).click();
      await page.getByRole("button", { name: "Revoke laptop" }).click();
      await expect(page.getByText("No tokens yet")).toBeVisible();
      expect((await whoami()).status()).toBe(401);
    });
  });
}

test("a redirect URI is checked when the user leaves the field, and the error disappears once it is corrected", async ({
  page,
  person,
}) => {
  await open(page, "/settings/applications/new", person);
  await redirectUris(page).pressSequentially("http://app.example.com");
  await expect(page.getByText("cannot be used")).toHaveCount(0);
  await page.getByLabel("After sign-out").focus();
  await expect(redirectUris(page)).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByText("Use https")).toBeVisible();
  await redirectUris(page).fill("https://app.example.com");
  await expect(page.getByText("Use https")).toHaveCount(0);
  await expect(redirectUris(page)).not.toHaveAttribute("aria-invalid", "true");
});

test("only administrators see an organization's apps, which look nonexistent to other users (S136)", async ({
  page,
  member,
  demo,
}) => {
  const [own, other] = member.organizations;
  await open(page, "/settings/applications", member);
  await page.goto(`/organizations/${own.name}/settings/applications`);
  await page.getByRole("link", { name: "New app" }).click();
  await fillNewApp(page, "Tide tables", "https://tides.example/cb");
  await page.getByRole("button", { name: "Create app" }).click();
  await expect(page.getByText(`Owned by ${own.fullName}`)).toBeVisible();

  const app = [
    "app",
    "create",
    "--org",
    other.name,
    "--name",
    "Foreign",
    "--scopes",
    "openid",
    "--redirect-uri",
    "https://x.example/",
  ];
  const { id } = await admin(demo, ...app);
  const foreign = [
    `/organizations/${other.name}/settings/applications`,
    `/organizations/${other.name}/settings/applications/new`,
    `/organizations/${other.name}/settings/applications/${id}`,
    `/settings/applications/${id}`,
    "/settings/applications/0123456789abcdef01234567",
  ];
  for (const path of foreign) expect((await page.request.get(path)).status(), path).toBe(404);
});
