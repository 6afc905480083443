import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";
import { enter } from "./support/enter.ts";
import { underMouse } from "./support/permissions-modal.ts";
import { SignInPage } from "./support/sign-in-page.ts";

const LINKED = "/settings/linked-accounts";

async function signInAtIssuer(page: Page, who: string): Promise<void> {
  await page.getByLabel("Who are you?").fill(who);
  await page.getByRole("button", { name: "Continue" }).click();
}

test("people sign up with an issuer that an operator set up, link it and unlink it", async ({
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
    const form = page.getByRole("form", { name: "New provider" });
    const issuer = form.getByRole("textbox", { name: "Issuer" });
    await form.getByLabel("Name in URLs", { exact: true }).fill(slug);
    await form.getByLabel("Name on the button").fill(name);
    await issuer.fill("http://169.254.169.254/latest");
    await form.getByLabel("Client ID").fill(upstream.clientId);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await form.getByLabel("Create accounts for new users").check();
    await form.getByRole("button", { name: "Add provider" }).click();
    await expect(issuer).toHaveAccessibleDescription(/not on the public internet/);
    await expect(form.getByLabel("Name in URLs", { exact: true })).toHaveValue(slug);
    await issuer.fill(upstream.issuer);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await form.getByRole("button", { name: "Add provider" }).click();
    await expect(page.getByText(`The sign-in page now offers ${name}.`)).toBeVisible();
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
      await expect(theirs.getByText(`${name} was cancelled or denied`)).toBeVisible();
      await theirs.getByRole("link", { name: `Continue with ${name}` }).click();
      await signInAtIssuer(theirs, who);
      await expect(theirs.getByLabel("Username")).toHaveValue(who);
      await expect(theirs.getByText(`${who}@upstream.test`).first()).toBeVisible();
      if (hasScripts) await expectAccessible(theirs);
      await theirs.getByLabel("Username").fill("admin");
      await theirs.getByRole("button", { name: "Create account" }).click();
      await expect(theirs.getByLabel("Username")).toHaveAccessibleDescription(/reserved/);
      await theirs.getByLabel("Username").fill(who);
      await theirs.getByRole("button", { name: "Create account" }).click();
      await theirs.waitForURL("**/organizations");
      await expect(theirs.getByText("You are not in any organization")).toBeVisible();

      await theirs.goto(LINKED);
      await theirs.getByText("Unlink", { exact: true }).click();
      await theirs.getByRole("button", { name: "Unlink the account" }).click();
      await expect(theirs.getByText("This is your only way to sign in.")).toBeVisible();
      await theirs.goto(LINKED);
      await theirs
        .getByRole("form", { name: "Set a password" })
        .getByLabel("Password", { exact: true })
        .fill("a long way from here");
      await theirs.getByRole("button", { name: "Set password" }).click();
      await expect(theirs.getByText("You now have a password")).toBeVisible();
      await theirs.getByText("Unlink", { exact: true }).click();
      await theirs.getByRole("button", { name: "Unlink the account" }).click();
      await expect(theirs.getByText("Account unlinked.")).toBeVisible();
      await context.close();
    }

    await enter(page, another);
    await page.goto(LINKED);
    await page.getByRole("link", { name: `Link at ${name}` }).click();
    await signInAtIssuer(page, `own-${another.username}`);
    await expect(page.getByRole("heading", { name: `Link ${name} to your account?` })).toBeVisible();
    await expectAccessible(page);
    await (await underMouse(page.getByRole("button", { name: "Link", exact: true }))).click();
    await expect(page.getByText("Account linked.")).toBeVisible();
    await expectAccessible(page);
    const fresh = await browser.newContext({ baseURL: demo.origin });
    const later = await fresh.newPage();
    await later.goto(`/login?${new URLSearchParams({ next: LINKED })}`);
    await later.getByRole("link", { name: `Continue with ${name}` }).click();
    await signInAtIssuer(later, `own-${another.username}`);
    await later.waitForURL(`**${LINKED}`);
    await expect(later.getByText(`own-${another.username}@upstream.test`).first()).toBeVisible();
    await fresh.close();
  } finally {
    await admin(demo, "identity-provider", "remove", "--slug", slug).catch(() => undefined);
    await upstream.stop();
  }
});

test("members of an organization that requires its own issuer see the next step, take it, and get access", async ({
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
    await page
      .getByRole("navigation", { name: organization.fullName })
      .getByRole("link", { name: "Sign-in requirements" })
      .click();
    await page.getByText("Require it", { exact: true }).first().click();
    await page.getByRole("button", { name: "Require it" }).first().click();
    await expect(page.getByText("Set up a second step for your own account first")).toBeVisible();

    await page.goto(`/organizations/${organization.name}/settings/security`);
    const form = page.getByRole("form", { name: "Set up the issuer" });
    await form.getByRole("textbox", { name: "Issuer" }).fill(upstream.issuer);
    await form.getByLabel("Name", { exact: true }).fill("Harbour ID");
    await form.getByLabel("Client ID").fill(upstream.clientId);
    await form.getByLabel("Client secret").fill(upstream.clientSecret);
    await page.getByRole("button", { name: "Save issuer" }).click();
    await expect(page.getByText("Issuer saved.")).toBeVisible();
    await page.getByRole("link", { name: "Sign in with Harbour ID" }).click();
    await signInAtIssuer(page, `chief-${member.username}`);
    await expect(page.getByText("It does not sign you in here.")).toBeVisible();
    await (await underMouse(page.getByRole("button", { name: "Link", exact: true }))).click();
    const requirement = page.getByRole("region", { name: "Sign-in with Harbour ID" });
    await requirement.getByText("Require it", { exact: true }).first().click();
    await requirement.getByRole("button", { name: "Require it" }).click();
    await expect(page.getByText("Requirement enabled.")).toBeVisible();
    await expect(page.getByRole("region", { name: "Members without access" })).toContainText(another.username);
    await expectAccessible(page);

    const context = await browser.newContext({ baseURL: demo.origin });
    const theirs = await context.newPage();
    await enter(theirs, another);
    await theirs.goto("/");
    await expect(
      theirs.getByText(`${organization.fullName} requires you to sign in every 7 days with Harbour ID.`),
    ).toBeVisible();
    await theirs.goto(`/organizations/${organization.name}`);
    await expectAccessible(theirs);
    await theirs.context().clearCookies();
    await theirs.getByRole("link", { name: "Sign in with Harbour ID" }).click();
    await new SignInPage(theirs).signIn(another);
    await signInAtIssuer(theirs, `crew-${another.username}`);
    await (await underMouse(theirs.getByRole("button", { name: "Link", exact: true }))).click();
    await theirs.waitForURL(`**/organizations/${organization.name}`);
    await expect(theirs.getByText("Until you do, you, your apps and your tokens have no access")).toHaveCount(0);
    await context.close();
  } finally {
    await upstream.stop();
  }
});

type RunningIssuer = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  stop(): Promise<void>;
};

async function runUpstreamIssuer(redirectUri: string): Promise<RunningIssuer> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const client = { clientId: "service-under-test", clientSecret: "a secret of the test's" };
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "upstream" }] },
    cookies: { keys: ["of no use anywhere else"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        email: `${sub}@upstream.test`,
        email_verified: true,
        name: `Upstream ${sub}`,
        preferred_username: sub,
      }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId: oidc.client?.clientId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  server.on("request", async (req, res) => {
    if (!req.url?.startsWith("/interaction/")) return callback(req, res);
    if (req.method === "GET") return askWho(res);
    let body = "";
    for await (const chunk of req) body += chunk;
    const form = new URLSearchParams(body);
    const result = form.has("cancel")
      ? { error: "access_denied", error_description: "They said no." }
      : { login: { accountId: form.get("who") ?? "" } };
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  });
  return {
    issuer,
    ...client,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function askWho(res: ServerResponse): void {
  res.setHeader("Content-Type", "text/html").end(`<!doctype html><title>Upstream</title><form method="post">
    <label>Who are you? <input name="who"></label> <button>Continue</button> <button name="cancel" value="1">Say no</button></form>`);
}
