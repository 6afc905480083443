import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";

const claims = { repository: "octo/kite", ref: "refs/heads/main" };

async function exchange(origin: string, subject_token: string, resource: string) {
  const response = await fetch(`${origin}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      subject_token,
      resource,
    }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function commit(origin: string, token: string, repo: string): Promise<number> {
  const lines = [
    { key: "header", value: { summary: "From the pipeline" } },
    { key: "file", value: { path: "weights.txt", content: "a2l0ZQ==", encoding: "base64" } },
  ];
  const response = await fetch(`${origin}/api/models/${repo}/commit/main`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => JSON.stringify(line)).join("\n"),
  });
  return response.status;
}

async function fillIssuer(page: Page, { issuer }: CiIssuer, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Issuer" }).fill(issuer);
  await page.getByRole("textbox", { name: "Claims" }).fill(text);
}

for (const hasScripts of [true, false]) {
  test.describe(`${hasScripts ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled: hasScripts });

    test("a pipeline is trusted with one repository, publishes without a stored token, is listed, and is removed", async ({
      page,
      member,
      demo,
    }) => {
      test.slow();
      const [{ name: org }] = member.organizations;
      const hub = await hubClient(demo, member, "manage-repos");
      for (const name of ["kite", "quay"]) {
        await hub.send("POST", "/api/repos/create", { type: "model", name, organization: org, private: true });
      }
      const [repo, next] = [`${org}/kite`, `${org}/quay`];
      const ci = await startCiIssuer(demo);
      await enter(page, member);

      await page.goto(`/${repo}/settings?tab=access`);
      await page.getByRole("link", { name: "Manage publishers" }).click();
      await expect(page.getByText("No publishers yet")).toBeVisible();
      await expect(page.getByText(`-d resource=${repo}`).first()).toBeAttached();
      if (hasScripts) await expectAccessible(page);
      await page.getByRole("link", { name: "New publisher" }).click();

      await page.getByRole("textbox", { name: "Repository", exact: true }).fill("kite");
      await page.getByRole("button", { name: "Add publisher" }).click();
      await expect(page.getByText("separated by a slash")).toBeVisible();
      await expect(page.getByRole("textbox", { name: "Repository", exact: true })).toHaveValue("kite");
      if (hasScripts) await expectAccessible(page);

      await page.getByRole("link", { name: "Another issuer" }).click();
      await fillIssuer(page, ci, "sub = job");
      await page.getByRole("button", { name: "Add publisher" }).click();
      await expect(page.getByText("at least one claim besides sub")).toBeVisible();
      await fillIssuer(page, ci, "repository = octo/kite\nref = refs/heads/main");
      await page.getByRole("button", { name: "Add publisher" }).click();
      await expect(page.getByText("Publisher added. Set up your pipeline as shown below.")).toBeVisible();
      const row = page.getByRole("list", { name: "Trusted publishers" }).getByRole("listitem");
      await expect(row).toContainText("never used");

      const dev = await exchange(demo.origin, await ci.sign({ ...claims, ref: "refs/heads/dev" }), repo);
      expect(dev).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
      expect(dev.body.error_description).toContain("ref refs/heads/dev");
      await page.reload();
      await expect(row).toContainText("the claim ref is refs/heads/dev");

      const { status, body } = await exchange(demo.origin, await ci.sign(claims), repo);
      expect(status).toBe(200);
      const token = body.access_token ?? "";
      expect(await commit(demo.origin, token, repo)).toBe(200);
      expect(await commit(demo.origin, token, next)).toBe(404);
      await page.goto(`/${repo}/commits/main`);
      await expect(page.getByText("CI [OIDC]").first()).toBeVisible();

      await page.goto(`/organizations/${org}/settings/publishers`);
      const listed = page.getByRole("list", { name: "Trusted publishers" }).getByRole("listitem");
      await expect(listed).toContainText(/last used/);
      await expect(listed).not.toContainText("Refused");
      if (hasScripts) await expectAccessible(page);
      await listed.getByRole("link", { name: repo }).click();

      await row.getByText("Delete", { exact: true }).click();
      await expect(row.getByText("Stop trusting octo/kite?")).toBeVisible();
      await page.getByRole("button", { name: "Delete the publisher" }).click();
      await expect(page.getByText("Publisher deleted. Its tokens no longer work")).toBeVisible();
      expect(await commit(demo.origin, token, repo)).toBe(401);
      expect((await exchange(demo.origin, await ci.sign(claims), repo)).status).toBe(400);
      await ci.close();
    });
  });
}

test("a pipeline is trusted to read as a person", async ({ page, person, demo }) => {
  const ci = await startCiIssuer(demo);
  await enter(page, person);
  await page.goto("/settings/publishers");
  await page.getByRole("link", { name: "New publisher" }).click();
  await page.getByRole("link", { name: "Another issuer" }).click();
  await fillIssuer(page, ci, "repository = octo/kite");
  await page.getByRole("button", { name: "Add publisher" }).click();
  await expect(page.getByText("Publisher added. Set up your pipeline as shown below.")).toBeVisible();
  const { body } = await exchange(demo.origin, await ci.sign(claims), person.username);
  expect(body).toMatchObject({ scope: "gated-repos", token_type: "bearer", expires_in: 3600 });
  await page.reload();
  await expect(page.getByRole("list", { name: "Trusted publishers" })).toContainText(/last used/);
  await expectAccessible(page);
  await ci.close();
});

type CiIssuer = {
  issuer: string;
  sign: (claims: JWTPayload) => Promise<string>;
  close: () => Promise<void>;
};

async function startCiIssuer({ certificates, origin }: Demo): Promise<CiIssuer> {
  const [cert, key] = ["certificate.pem", "key.pem"].map((name) => readFileSync(join(certificates.sample, name)));
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
  const server = createServer({ cert, key }, ({ url }, response) => {
    const body = url === "/keys" ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // `npm run shots` never stops this server, so it must not keep the process alive.
  server.unref();
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(issuer)
        .setAudience(origin)
        .setSubject("job")
        .setIssuedAt()
        .setExpirationTime("5 minutes")
        .setJti(crypto.randomUUID())
        .sign(privateKey),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
