import { afterAll, expect, test } from "vitest";
import { startHandMadeIssuer } from "#core/accounts/identity-providers/testing/hand-made-issuer.ts";
import { db } from "#core/db.ts";
import { adminLine } from "./testing/admin-line.ts";

const issuer = await startHandMadeIssuer();
afterAll(() => issuer.stop());

const admin = (...args: string[]) => adminLine("identity-provider", ...args);

test("an identity provider is added, listed, disabled, enabled and removed", async () => {
  const client = ["--client-id", "us", "--client-secret", "a secret"];
  const add = (slug: string, ...more: string[]) => admin("add", "--slug", slug, "--name", "Acme", ...client, ...more);
  const redirect_uri = "http://localhost:3000/login/with/acme/callback";

  expect(await add("acme", "--issuer", "http://169.254.169.254")).toMatchObject({
    exitCode: 2,
    json: { field: "issuer" },
    text: expect.stringContaining("not on the public internet"),
  });
  expect(await add("Acme Corp", "--issuer", issuer.origin)).toMatchObject({ exitCode: 2, json: { field: "slug" } });
  const added = await add("acme", "--issuer", issuer.origin, "--sign-up");
  expect(added).toMatchObject({ exitCode: 0, json: { slug: "acme", issuer: issuer.origin, redirect_uri } });
  expect(await add("acme", "--issuer", issuer.origin)).toMatchObject({ json: { code: "conflict", field: "slug" } });

  const listed = async () =>
    (await admin("list")) as unknown as { json: { identity_providers: Record<string, unknown>[] }; text: string };
  expect((await listed()).json.identity_providers).toMatchObject([
    { slug: "acme", sign_up: true, disabled: false, redirect_uri, linked: 0 },
  ]);
  expect(JSON.stringify(await listed()) + JSON.stringify(added)).not.toContain("a secret");
  await admin("disable", "--slug", "acme");
  expect((await listed()).json.identity_providers).toMatchObject([{ disabled: true }]);
  await admin("enable", "--slug", "acme");
  expect(await admin("remove", "--slug", "acme")).toMatchObject({ exitCode: 0, json: { removed: "acme", unlinked: 0 } });
  expect(await admin("remove", "--slug", "acme")).toMatchObject({ exitCode: 1, json: { code: "not_found" } });
  const trail = await db().auditEvent.findMany({ where: { type: { startsWith: "identity_provider." } } });
  expect(trail.map(({ type }) => type.split(".")[1]).sort()).toEqual(["create", "delete", "disable", "enable"]);
});
