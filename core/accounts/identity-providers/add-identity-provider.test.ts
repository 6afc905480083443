import { afterAll, beforeEach, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { LONG_HOST } from "../../http/testing/long-host.ts";
import { startHttpsSite } from "../../testing/https-site.ts";
import { removeMember } from "../organizations/members.ts";
import { from, organizationOf, signedInPerson } from "../testing/people.ts";
import {
  addIdentityProvider,
  type NewIdentityProvider,
  removeIdentityProvider,
  updateIdentityProvider,
} from "./manage-identity-providers.ts";
import { startTestProvider } from "./testing/provider-sign-in.ts";

const { issuer, provider, linked } = await startTestProvider();
afterAll(() => issuer.stop());
beforeEach(() => issuer.behave({}));

test("S117 an issuer at a forbidden address, with another name or out of reach is refused with the reason", async () => {
  const admin = await signedInPerson();
  const organization = await organizationOf(admin);
  const refusal = async (changes: Partial<NewIdentityProvider>) => {
    const input = { orgId: organization.id, kind: "oidc", name: "Ours", clientId: "c", ...changes };
    return addIdentityProvider(admin.actor, input, from).then(
      () => "saved",
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  expect(await refusal({ issuer: "http://169.254.169.254/latest" })).toBe(
    "issuer: This issuer could not be reached: the host is not on the public internet. Check its URL.",
  );
  expect(await refusal({ issuer: "https://10.0.0.1" })).toContain("not on the public internet");
  expect(await refusal({ issuer: "https://localhost:1" })).toContain("could not be reached");
  expect(await refusal({ issuer: "file:///etc/passwd" })).toContain("https://");
  expect(await refusal({ issuer: "https://user:pw@x.example" })).toContain("password");
  const discovery = async (change: (honest: Record<string, unknown>) => unknown) => {
    issuer.behave({ discovery: change });
    return refusal({ issuer: issuer.origin });
  };
  expect(await discovery((honest) => ({ ...honest, issuer: "https://evil.example" }))).toContain(
    "another issuer, “https://evil.example”",
  );
  expect(await discovery((honest) => ({ ...honest, authorization_endpoint: "javascript:alert(1)" }))).toContain(
    "authorization_endpoint",
  );
  expect(await discovery((honest) => ({ ...honest, token_endpoint: `https://${LONG_HOST}/token` }))).toContain("token_endpoint");
  expect(await discovery(({ jwks_uri: _, ...honest }) => honest)).toContain("has no jwks_uri");
  expect(await discovery((honest) => ({ ...honest, id_token_signing_alg_values_supported: ["none", "HS256"] }))).toContain(
    "none of the supported algorithms",
  );
  expect(await discovery((honest) => ({ ...honest, code_challenge_methods_supported: ["plain"] }))).toContain("PKCE");
  expect(await discovery(() => [1])).toContain("no usable discovery document");
  const silent = await startHttpsSite();
  expect(await refusal({ issuer: silent.origin })).toContain("it responded with status 404");
  silent.answer(() => undefined);
  expect(await refusal({ issuer: silent.origin })).toContain("in time");
  await silent.stop();
  issuer.behave({});
  expect(await refusal({ issuer: issuer.origin })).toBe("saved");
  expect(await refusal({ issuer: issuer.origin })).toContain("already has an issuer");
  expect(await db().identityProvider.count({ where: { orgId: organization.id } })).toBe(1);
});

test("S135 a user who loses the administrator role while the issuer responds cannot change the provider", async () => {
  const [owner, admin] = [await signedInPerson(), await signedInPerson("admin")];
  const { id: orgId } = await organizationOf(owner);
  const join = () => db().membership.create({ data: { orgId, userId: admin.id, role: "admin" } });
  const whileAsked = (happens: () => Promise<unknown>) => issuer.behave({ discovery: (honest) => happens().then(() => honest) });
  const add = () =>
    addIdentityProvider(admin.actor, { orgId, kind: "oidc", name: "Ours", issuer: issuer.origin, clientId: "c" }, from);
  const leave = () => removeMember(owner.actor, orgId, admin.id, from);

  await join();
  whileAsked(leave);
  await expect(add()).rejects.toMatchObject({ code: "forbidden" });
  expect(await db().identityProvider.count({ where: { orgId } })).toBe(0);

  await join();
  issuer.behave({});
  const { id, slug, name } = await add();
  whileAsked(leave);
  await expect(updateIdentityProvider(admin.actor, slug, { name: "Mine" }, from)).rejects.toMatchObject({ code: "forbidden" });
  expect((await db().identityProvider.findUniqueOrThrow({ where: { id } })).name).toBe(name);

  whileAsked(() => removeIdentityProvider(owner.actor, slug, from));
  await expect(updateIdentityProvider(owner.actor, slug, { name: "Ours" }, from)).rejects.toMatchObject({ code: "not_found" });
});

test("S130 the secret is sealed, survives an update that leaves it empty, and stays out of audit entries", async () => {
  const one = await provider({ clientSecret: "a secret of the upstream" });
  await updateIdentityProvider(operatorCommand, one.slug, { name: "Renamed", clientSecret: "" }, from);
  const row = await db().identityProvider.findUniqueOrThrow({ where: { id: one.id } });
  expect(row).toMatchObject({ name: "Renamed", sealedClientSecret: expect.any(Uint8Array) });
  expect(Buffer.from(row.sealedClientSecret ?? []).toString("latin1")).not.toContain("a secret of the upstream");
  await updateIdentityProvider(operatorCommand, one.slug, { clientSecret: "another secret" }, from);
  expect(JSON.stringify(await db().auditEvent.findMany({ where: { type: { startsWith: "identity_provider." } } }))).not.toContain(
    "secret of",
  );
  await expect(
    addIdentityProvider(operatorCommand, { orgId: null, kind: "oidc", slug: "org-x", clientId: "c" }, from),
  ).rejects.toMatchObject({
    field: "slug",
  });
  await expect(
    addIdentityProvider(operatorCommand, { orgId: null, kind: "github", slug: "gh", clientId: "c" }, from),
  ).rejects.toMatchObject({
    field: "clientSecret",
  });
  const member = await signedInPerson();
  await expect(addIdentityProvider(member.actor, { orgId: null, kind: "oidc", clientId: "c" }, from)).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(removeIdentityProvider(member.actor, one.slug, from)).rejects.toMatchObject({ code: "forbidden" });
  await linked(one, "removed-with-it");
  expect(await removeIdentityProvider(operatorCommand, one.slug, from)).toEqual({ unlinked: 1 });
});
