import { whoamiSchema } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorCommand, type Person, personActor } from "#core/access/actor.ts";
import { organizationSlug, redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import { linkIdentity } from "#core/accounts/identity-providers/linked-identities.ts";
import { addIdentityProvider, removeIdentityProvider } from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { findPendingIdentity } from "#core/accounts/identity-providers/pending-identity.ts";
import { receiveCallback } from "#core/accounts/identity-providers/receive-callback.ts";
import { startProviderSignIn } from "#core/accounts/identity-providers/start-provider-sign-in.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { addMember } from "#core/accounts/organizations/members.ts";
import {
  listMembersWithout,
  listOwnRestrictions,
  listRestrictedMembers,
} from "#core/accounts/organizations/security/list-restricted-members.ts";
import {
  readOrganizationSecurity,
  updateOrganizationSecurity,
} from "#core/accounts/organizations/security/organization-security.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { newId } from "#core/ids.ts";
import { prepare } from "#core/oauth/testing/sign-in.ts";
import { startUpstreamIssuer, type UpstreamIssuer } from "#core/oauth/testing/upstream-issuer.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
const issuers: UpstreamIssuer[] = [];
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => Promise.all([world.stop(), ...issuers.map((issuer) => issuer.stop())]));

async function organizationWithTwo() {
  const at = await prepare(world, { scopes: ["openid", "profile", "read-repos"] });
  const chief = await prepare(world);
  const name = `org-${newId().slice(-8)}`;
  const { id: orgId } = await createOrganization(personActor(chief.session), { name }, noOrigin);
  await addMember(operatorCommand, orgId, { username: at.person.username, role: "read" }, noOrigin);
  const granted = { orgIds: [orgId] };
  const { tokens } = await world.signInWith(
    at.app,
    at.session,
    at.browser,
    { scope: "openid profile read-repos", orgIds: orgId },
    granted,
  );
  const input = { name: "laptop", scopes: ["read-repos"], expiresInDays: 1 };
  const personal = await createPersonalAccessToken(operatorCommand, at.person.id, input, noOrigin);
  await createRepo(operatorCommand, { type: "model", owner: name, name: "private", isPrivate: true }, noOrigin);
  const repo = `${world.origin}/api/models/${name}/private`;
  const member = { userId: at.person.id, actor: personActor(at.session) };
  return { orgId, name, repo, member, admin: personActor(chief.session), tokens: [tokens.access_token, personal.token] };
}

const get = (url: string, token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });

async function seenBy({ tokens, repo, orgId }: Awaited<ReturnType<typeof organizationWithTwo>>) {
  return Promise.all(
    tokens.map(async (token) => {
      const whoami = whoamiSchema.parse(await (await get(`${world.origin}/api/whoami-v2`, token)).json());
      const restrictions = whoami.orgs.find(({ id }) => id === orgId)?.securityRestrictions;
      return [restrictions ?? [], (await get(repo, token)).status];
    }),
  );
}

test("S135 a required second step closes the organization's resources to every token, until it is set up", async () => {
  const at = await organizationWithTwo();
  const { orgId, admin, member } = at;
  const open = [
    [[], 200],
    [[], 200],
  ];
  expect(await seenBy(at)).toEqual(open);
  const require = (actor: Person, requiresSecondStep: boolean) =>
    updateOrganizationSecurity(actor, orgId, { requiresSecondStep }, noOrigin);
  await expect(require(member.actor, true)).rejects.toMatchObject({ code: "forbidden" });
  await expect(require(admin, true)).rejects.toMatchObject({ code: "conflict", field: "requiresSecondStep" });
  await expect(updateOrganizationSecurity(operatorCommand, orgId, { requiresSecondStep: true }, noOrigin)).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(require({ ...admin, authenticatedAt: new Date(0) }, true)).rejects.toMatchObject({
    code: "reauthentication_required",
  });
  const totp = (userId: string) =>
    db().totp.create({ data: { userId, sealedSecret: new Uint8Array([1]), confirmedAt: new Date() } });
  await totp(admin.userId);
  expect(await readOrganizationSecurity(admin, orgId)).toMatchObject({
    members: 2,
    withoutSecondStep: 1,
    requiresSecondStep: false,
  });
  expect(await listMembersWithout(admin, orgId, "second-step")).toMatchObject({ total: 1, items: [{ role: "read" }] });
  expect(await listMembersWithout(admin, orgId, "provider")).toMatchObject({ total: 2 });
  await expect(listMembersWithout(member.actor, orgId, "second-step")).rejects.toMatchObject({ code: "forbidden" });
  await require(admin, true);

  const [personal, app] = await seenBy(at);
  expect([personal?.[0], app?.[0]]).toEqual([["mfa"], ["mfa"]]);
  for (const seen of [personal, app]) expect([403, 404]).toContain(seen?.[1]);
  const [userinfo] = at.tokens;
  const claims = await (await world.userinfo(userinfo as string)).json();
  expect(claims.orgs).toMatchObject([{ sub: orgId, securityRestrictions: ["mfa"] }]);
  expect(await listRestrictedMembers(admin, orgId)).toMatchObject({ total: 1, items: [{ restrictions: ["mfa"], role: "read" }] });
  expect(await listOwnRestrictions(member.userId)).toMatchObject([{ orgId, restrictions: ["mfa"], provider: null }]);

  await totp(member.userId);
  expect(await seenBy(at)).toEqual(open);
  expect((await listRestrictedMembers(admin, orgId)).total).toBe(0);
  await require(admin, false);
  const events = await db().auditEvent.findMany({ where: { orgId, type: "organization.set_policy" } });
  expect(events.map(({ data }) => (data as { requiresSecondStep: boolean }).requiresSecondStep).sort()).toEqual([false, true]);
});

test("an organization's own issuer proves membership for 7 days, and never signs anybody in", async () => {
  const at = await organizationWithTwo();
  const { orgId, admin, member, name } = at;
  const slug = organizationSlug(orgId);
  const issuer = await startUpstreamIssuer([redirectUriOf(slug)]);
  issuers.push(issuer);
  const input = { orgId, kind: "oidc", name: `${name} ID`, issuer: issuer.origin, ...issuer.client };
  await expect(addIdentityProvider(member.actor, input, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
  // An organization's issuer never creates accounts, because the organization's administrators could claim any email address.
  await addIdentityProvider(admin, { ...input, isSignUpAllowed: true, slug: "google" }, noOrigin);
  expect(await db().identityProvider.findUnique({ where: { slug } })).toMatchObject({ isSignUpAllowed: false, orgId });

  const requireIssuer = () => updateOrganizationSecurity(admin, orgId, { requiresProvider: true }, noOrigin);
  await expect(requireIssuer()).rejects.toMatchObject({ code: "conflict", field: "requiresProvider" });

  const prove = async (actor: Person, who: string) => {
    const { url, browser } = await startProviderSignIn({ slug, intent: "sign-in", next: "/" }, actor, noOrigin);
    const { searchParams } = await issuer.signIn(url, who);
    const received = await receiveCallback({ slug, parameters: searchParams, browser, actor, sessionToken: undefined }, noOrigin);
    if (received.step !== "pending") return received.step;
    const stranger = personActor((await prepare(world)).session);
    for (const viewer of [undefined, stranger]) expect(await findPendingIdentity(received.token, viewer)).toBeUndefined();
    await expect(linkIdentity(stranger, received.token, noOrigin)).rejects.toMatchObject({ code: "gone" });
    await linkIdentity(actor, received.token, noOrigin);
    return "linked";
  };
  const stranger = personActor((await prepare(world)).session);
  const start = (actor: Person | undefined) => startProviderSignIn({ slug, intent: "sign-in", next: "/" }, actor, noOrigin);
  await expect(start(stranger)).rejects.toMatchObject({ code: "not_found" });
  await expect(start(undefined)).rejects.toMatchObject({ code: "unauthorized" });
  // S136: the redirect must not reveal whether the organization exists.
  const unknown = { slug: organizationSlug(newId()), intent: "sign-in" as const, next: "/" };
  await expect(startProviderSignIn(unknown, undefined, noOrigin)).rejects.toMatchObject({ code: "unauthorized" });
  await expect(startProviderSignIn(unknown, stranger, noOrigin)).rejects.toMatchObject({ code: "not_found" });

  expect(await prove(admin, "chief")).toBe("linked");
  await requireIssuer();
  expect((await seenBy(at)).map(([restrictions]) => restrictions)).toEqual([["sso"], ["sso"]]);
  expect(await listOwnRestrictions(member.userId)).toMatchObject([{ restrictions: ["sso"], provider: { slug } }]);
  expect(await prove(member.actor, "worker")).toBe("linked");
  expect(await seenBy(at)).toEqual([
    [[], 200],
    [[], 200],
  ]);

  await db().linkedIdentity.updateMany({
    where: { userId: member.userId },
    data: { lastUsedAt: new Date(Date.now() - 8 * 86_400_000) },
  });
  const late = await seenBy(at);
  expect(late.map(([restrictions]) => restrictions)).toEqual([["sso"], ["sso"]]);
  for (const [, status] of late) expect([403, 404]).toContain(status);
  expect(await prove(member.actor, "worker")).toBe("proved");
  expect(await seenBy(at)).toEqual([
    [[], 200],
    [[], 200],
  ]);
  expect(await prove(member.actor, "chief")).toBe("failed");
  await expect(removeIdentityProvider(admin, slug, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  await updateOrganizationSecurity(admin, orgId, { requiresProvider: false }, noOrigin);
  expect(await removeIdentityProvider(admin, slug, noOrigin)).toEqual({ unlinked: 2 });
});
