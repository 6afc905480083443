import { type OrganizationRole, organizationRoles, scopes } from "@keyhook/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { type Db, db } from "../db.ts";
import type { ServiceError } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Actor, anonymous, type Person, type Publisher, type TokenHolder } from "./actor.ts";
import { may, requirePermission } from "./may.ts";
import { organizationsOf } from "./organizations-of.ts";
import type { RepoResource } from "./rule.ts";
import type { Action } from "./rules.ts";
import { standingInOrganization, standingsOf } from "./standing-in-organization.ts";

async function person(): Promise<Person> {
  const id = newId();
  const email = `${id}@example.test`;
  await db().user.create({ data: { id, username: id, fullName: id, email, emailCanonical: email } });
  return { kind: "person", userId: id, isOperator: false, sessionId: newId(), authenticatedAt: new Date() };
}

async function organization(members: [Person, OrganizationRole][], asks: object = {}): Promise<string> {
  const id = newId();
  await db().organization.create({ data: { id, name: id, fullName: id, ...asks } });
  for (const [{ userId }, role] of members) await db().membership.create({ data: { orgId: id, userId, role } });
  return id;
}

const owned = (by: { userId: string } | { orgId: string }, changes: Partial<RepoResource> = {}): RepoResource => ({
  ownerUserId: "userId" in by ? by.userId : null,
  ownerOrgId: "orgId" in by ? by.orgId : null,
  isPrivate: true,
  isGated: false,
  repoId: newId(),
  createdById: null,
  createdByClientId: null,
  ...changes,
});

const tokenOf = ({ userId }: Person, changes: Partial<TokenHolder> = {}): TokenHolder => ({
  kind: "token",
  tokenId: "a token",
  userId,
  scopes: [...scopes],
  orgIds: "all",
  clientId: "client-a",
  ...changes,
});

async function refusalOf(
  actor: Actor,
  action: Action,
  resource: unknown,
  tx: Db = db(),
): Promise<Partial<ServiceError> | "allowed"> {
  return requirePermission(actor, action, resource as never, { what: "Repository", tx }).then(
    () => "allowed" as const,
    ({ code, message, scope, requires }: ServiceError) => ({
      code,
      message,
      ...(scope && { scope }),
      ...(requires && { requires }),
    }),
  );
}

const roles = {} as Record<OrganizationRole, Person>;
let [orgId, otherOrgId] = ["", ""];
beforeAll(async () => {
  for (const role of organizationRoles) roles[role] = await person();
  orgId = await organization(organizationRoles.map((role) => [roles[role], role]));
  otherOrgId = await organization([[roles.admin, "admin"]]);
});

describe("S95 an exchanged token", () => {
  const exchanged = () => tokenOf(roles.admin, { boundOrgId: orgId });

  test("acts in its organization, where its scopes apply to what the organization owns", async () => {
    const repo = owned({ orgId });
    for (const action of ["repo.read", "repo.read_content", "repo.write", "repo.manage", "discussion.write"] as const) {
      expect([action, await may(exchanged(), action, repo)]).toEqual([action, true]);
    }
    expect(await may(exchanged(), "repo.create", { ownerUserId: null, ownerOrgId: orgId })).toBe(true);
    expect(await may(exchanged(), "collection.write", repo)).toBe(true);
    expect(await may({ ...exchanged(), scopes: ["read-repos"] }, "repo.write", repo)).toBe(false);
    expect(await may(tokenOf(roles.read, { boundOrgId: orgId }), "repo.write", repo)).toBe(false);
    expect(await may(tokenOf(await person(), { boundOrgId: orgId }), "repo.read", repo)).toBe(false);
  });

  test("has no access to what its user or another organization owns", async () => {
    for (const repo of [owned({ userId: roles.admin.userId }), owned({ orgId: otherOrgId })]) {
      for (const action of ["repo.read", "repo.read_content", "repo.write", "repo.manage", "discussion.write"] as const) {
        expect([action, await may(exchanged(), action, repo)]).toEqual([action, false]);
      }
      expect(await may(exchanged(), "repo.create", repo)).toBe(false);
      expect(await may(exchanged(), "collection.create", repo)).toBe(false);
      expect(await may(exchanged(), "collection.read", repo)).toBe(false);
    }
    expect(await may(exchanged(), "organization.list_members", { orgId: otherOrgId })).toBe(false);
    expect(await may(exchanged(), "access_request.withdraw", { userId: roles.admin.userId })).toBe(false);
  });

  test("outside its organization, may read only public repositories and gated ones to which its user has access", async () => {
    const stranger = await person();
    const open = owned({ userId: stranger.userId }, { isPrivate: false });
    const repoId = newId();
    const data = { id: repoId, type: "model", ownerId: stranger.userId, ownerKind: "user", name: "g", nameCanonical: "g" };
    await db().repo.create({ data: { ...data, gated: "manual" } });
    await db().accessRequest.create({ data: { id: newId(), repoId, userId: roles.admin.userId, status: "accepted" } });
    const gated = { ...open, repoId, isGated: true };
    expect(await may(exchanged(), "repo.read_content", open)).toBe(true);
    expect(await may(exchanged(), "collection.read", open)).toBe(true);
    expect(await may(exchanged(), "repo.read_content", gated)).toBe(true);
    expect(await may({ ...exchanged(), scopes: ["read-repos"] }, "repo.read_content", gated)).toBe(false);
    expect(await may(exchanged(), "repo.read_content", { ...gated, repoId: newId() })).toBe(false);
    expect(await refusalOf(exchanged(), "discussion.write", open)).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("within one organization"),
    });
    expect(await may(exchanged(), "discussion.write", owned({ orgId }, { isPrivate: false }))).toBe(true);
  });
});

describe("a CI job's token", () => {
  test("S99 may read and write its repository and may read other repositories only if they are public", async () => {
    const repo = owned({ orgId });
    const job: Publisher = {
      kind: "publisher",
      publisherId: newId(),
      trustedById: newId(),
      repoId: repo.repoId,
      description: "run 7",
    };
    const other = owned({ orgId });
    expect(await may(job, "repo.read", repo)).toBe(true);
    expect(await may(job, "repo.read_content", { ...repo, isPrivate: false, isGated: true })).toBe(true);
    expect(await may(job, "repo.write", repo)).toBe(true);
    for (const action of ["repo.manage", "repo.manage_publishers", "discussion.write", "discussion.merge"] as const) {
      expect([action, await may(job, action, repo)]).toEqual([action, false]);
    }
    for (const action of ["repo.read", "repo.write"] as const) {
      expect(await refusalOf(job, action, other)).toEqual({ code: "not_found", message: "Repository not found" });
    }
    expect(await may(job, "repo.read_content", { ...other, isPrivate: false })).toBe(true);
    expect(await may(job, "collection.read", owned({ orgId }))).toBe(false);
    expect(await may(job, "organization.read_membership", { orgId })).toBe(false);
    expect(await refusalOf(job, "repo.write", { ...other, isPrivate: false })).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("the repository that trusts the job"),
    });
  });

  test("cannot change anything, whatever its scopes, if it acts for a user", async () => {
    const reader = tokenOf(roles.admin, { clientId: null, isReadOnly: true });
    const own = owned({ userId: roles.admin.userId });
    for (const repo of [own, owned({ orgId })]) {
      for (const action of ["repo.read", "repo.write", "repo.manage", "discussion.write"] as const) {
        expect([action, await may(reader, action, repo)]).toEqual([action, false]);
      }
    }
    expect(await refusalOf(reader, "discussion.write", { ...own, isPrivate: false })).toMatchObject({
      message: expect.stringContaining("can only read the gated repositories"),
    });
  });
});

describe("an organization's requirement of its members", () => {
  let member: Person;
  let closedId: string;
  let providerId: string;
  beforeAll(async () => {
    member = await person();
    providerId = newId();
    const provider = {
      id: providerId,
      slug: providerId,
      kind: "oidc",
      name: "Own",
      issuer: "https://id.example.test",
      clientId: "x",
    };
    await db().identityProvider.create({ data: provider });
    closedId = await organization([[member, "admin"]], { requiresSecondStep: true, requiredProviderId: providerId });
  });

  const asked = (securityRestrictions: string[]) => ({ code: "forbidden", requires: { securityRestrictions } });

  test("closes private resources and the administration with an error that names the requirement", async () => {
    const token = tokenOf(member, { clientId: null, standings: await standingsOf(member.userId) });
    for (const actor of [member, token, { ...token, boundOrgId: closedId }, { ...token, clientId: "client-a" }]) {
      for (const action of ["repo.read", "repo.read_content"] as const) {
        expect(await refusalOf(actor, action, owned({ orgId: closedId }))).toMatchObject(asked(["mfa", "sso"]));
      }
      expect(await refusalOf(actor, "organization.list_members", { orgId: closedId })).toMatchObject(asked(["mfa", "sso"]));
      expect(await may(actor, "organization.read_membership", { orgId: closedId })).toBe(true);
    }
    for (const action of ["organization.manage", "repo.create", "collection.create", "oauth_app.create"] as const) {
      const resource = { orgId: closedId, ownerUserId: null, ownerOrgId: closedId };
      expect([action, await refusalOf(member, action, resource)]).toMatchObject([action, asked(["mfa", "sso"])]);
    }
    expect(await may(member, "repo.read_content", owned({ orgId: closedId }, { isPrivate: false }))).toBe(true);
    expect(await may(member, "discussion.write", owned({ orgId: closedId }, { isPrivate: false }))).toBe(true);
    expect(await may(member, "organization.leave", { orgId: closedId })).toBe(true);
  });

  test("S135 is checked again within a change, because the membership may have ended", async () => {
    const someone = await person();
    const id = await organization([[someone, "write"]]);
    const token = tokenOf(someone, { clientId: null, standings: await standingsOf(someone.userId) });
    await db().membership.delete({ where: { orgId_userId: { orgId: id, userId: someone.userId } } });
    for (const action of ["repo.read", "repo.write", "repo.manage"] as const) {
      await db().$transaction(async (tx) =>
        expect([action, await may(token, action, owned({ orgId: id }), tx)]).toEqual([action, false]),
      );
    }
    expect(await may(token, "repo.write", owned({ orgId: id }))).toBe(false);
  });

  test("is hidden from a token without the scope, which gets the error for a missing repository", async () => {
    const token = tokenOf(member, { clientId: null, scopes: ["openid"] });
    expect(await refusalOf(token, "repo.read", owned({ orgId: closedId }))).toEqual({
      code: "not_found",
      message: "Repository not found",
    });
  });

  test("is met by a confirmed second step, or by a sign-in within the last 7 days at the required issuer", async () => {
    const restrictions = async () => (await standingInOrganization(member.userId, closedId))?.restrictions;
    const { userId } = member;
    await db().totp.create({ data: { userId, sealedSecret: Buffer.from("sealed") } });
    expect(await restrictions()).toEqual(["mfa", "sso"]);
    await db().totp.update({ where: { userId }, data: { confirmedAt: new Date() } });
    expect(await restrictions()).toEqual(["sso"]);
    const id = newId();
    const lastUsedAt = new Date(Date.now() - 8 * 24 * 3600_000);
    await db().linkedIdentity.create({ data: { id, userId, providerId, subject: "7", lastUsedAt } });
    expect(await refusalOf(member, "repo.read", owned({ orgId: closedId }))).toMatchObject(asked(["sso"]));
    await db().linkedIdentity.update({ where: { id }, data: { lastUsedAt: new Date() } });
    expect(await restrictions()).toEqual([]);
    expect(await may(member, "repo.manage", owned({ orgId: closedId }))).toBe(true);
  });
});

describe("a 403 names what is missing", () => {
  test("the scope", async () => {
    const token = tokenOf(roles.write, { clientId: null, scopes: ["read-repos"] });
    expect(await refusalOf(token, "repo.write", owned({ orgId }))).toEqual({
      code: "insufficient_scope",
      message: "The token lacks the scope write-repos.",
      scope: "write-repos",
    });
  });

  test("the role, for users and tokens alike", async () => {
    for (const actor of [roles.read, tokenOf(roles.read, { clientId: null }), tokenOf(roles.read, { boundOrgId: orgId })]) {
      const refusal = await refusalOf(actor, "repo.write", owned({ orgId }));
      expect(refusal).toMatchObject({ code: "forbidden", requires: { role: "write" } });
      expect(refusal).toMatchObject({ message: expect.stringContaining("the write role in the organization; yours is read") });
    }
  });

  test("the organization that was not granted to the app, whether or not the user is a member", async () => {
    for (const { userId } of [roles.admin, roles.read, await person()]) {
      const token = tokenOf(roles.admin, { userId, orgIds: [] });
      const open = owned({ orgId }, { isPrivate: false });
      const refusals = [await refusalOf(token, "discussion.moderate", open)];
      await db().$transaction(async (tx) => void refusals.push(await refusalOf(token, "discussion.moderate", open, tx)));
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: "forbidden", requires: { orgId } });
      expect(await refusalOf(token, "repo.write", owned({ orgId }))).toEqual({
        code: "not_found",
        message: "Repository not found",
      });
      const gated = { ...open, isGated: true };
      expect(await refusalOf(token, "repo.read_content", gated)).toMatchObject({
        message: expect.stringContaining("The repository's page says how to get access"),
        requires: { orgId },
      });
    }
  });

  test("the accepted kind of token, if the action refuses the given kind", async () => {
    const open = owned({ orgId }, { isPrivate: false });
    expect(await refusalOf(tokenOf(roles.admin), "organization.manage", { orgId })).toMatchObject({
      message: expect.stringContaining("No token can do this"),
    });
    expect(await refusalOf(tokenOf(roles.admin), "repo.write", open)).toMatchObject({
      message: expect.stringContaining("No scope lets an app do this"),
    });
  });
});

describe("a user with access to a gated repository", () => {
  test("S135 may read the repository, also by a CI job, until it becomes private", async () => {
    const reader = await person();
    const repoId = newId();
    const data = { id: repoId, type: "model", ownerId: orgId, ownerKind: "organization", name: "g", nameCanonical: "g" };
    await db().repo.create({ data: { ...data, gated: "manual" } });
    await db().accessRequest.create({ data: { id: newId(), repoId, userId: reader.userId, status: "accepted" } });
    const gated = owned({ orgId }, { repoId, isPrivate: false, isGated: true });
    const job = tokenOf(reader, { clientId: null, isReadOnly: true });
    for (const actor of [reader, tokenOf(reader), job]) {
      expect(await may(actor, "repo.read_content", gated)).toBe(true);
      expect(await may(actor, "repo.read_content", { ...gated, repoId: newId() })).toBe(false);
      expect(await may(actor, "repo.read_content", { ...gated, isPrivate: true })).toBe(false);
      for (const action of ["repo.write", "repo.manage", "repo.manage_publishers", "discussion.moderate"] as const)
        expect([action, await may(actor, action, gated)]).toEqual([action, false]);
    }
    expect(await may(job, "discussion.write", gated)).toBe(false);
  });
});

describe("a token that an administrator blocked from the organization", () => {
  test("S135 has no access to the organization, even within a transaction, which reads its user's standing again", async () => {
    const standing = { role: "admin", restrictions: ["token-revoked"] } as const;
    const token = tokenOf(roles.admin, { clientId: null, standings: new Map([[orgId, standing]]) });
    const cutOff = { code: "forbidden", requires: { securityRestrictions: ["token-revoked"] } };
    for (const action of ["repo.read", "repo.write", "repo.manage"] as const) {
      expect([action, await refusalOf(token, action, owned({ orgId }))]).toMatchObject([action, cutOff]);
      await db().$transaction(async (tx) => {
        expect([action, await refusalOf(token, action, owned({ orgId }), tx)]).toMatchObject([action, cutOff]);
        expect(await organizationsOf(token, "repo.read", { tx })).not.toContain(orgId);
      });
    }
    expect(await organizationsOf(token, "repo.read")).toEqual([]);
  });
});

describe("actions that require another action", () => {
  test("S135 include editing: authors may edit their comments only while they may read the repository", async () => {
    const author = await person();
    const mine = (repo: RepoResource) => ({ repo, authorId: author.userId });
    const [open, closed] = [owned({ orgId }, { isPrivate: false }), owned({ orgId })];
    for (const action of ["discussion.edit_comment", "discussion.update"] as const) {
      expect([action, await may(author, action, mine(open))]).toEqual([action, true]);
      expect([action, await may(author, action, mine(closed))]).toEqual([action, false]);
      expect(await refusalOf(author, action, mine(closed))).toMatchObject({ code: "not_found" });
    }
    expect(await may(roles.admin, "discussion.edit_comment", mine(open))).toBe(false);
  });

  test("S135 include merging: a token that may discuss may merge only if it may also write", async () => {
    const holding = (...held: TokenHolder["scopes"]) => tokenOf(roles.write, { clientId: null, scopes: held });
    expect(await may(holding("write-discussions", "write-repos"), "discussion.merge", owned({ orgId }))).toBe(true);
    expect(await may(holding("write-discussions", "read-repos"), "discussion.merge", owned({ orgId }))).toBe(false);
    expect(await may(holding("write-repos"), "discussion.merge", owned({ orgId }))).toBe(false);
  });
});

const of = (id: string) => ({ ownerUserId: null, ownerOrgId: id });

describe("S136 a refusal reveals nothing", () => {
  const missing = { code: "not_found", message: "Repository not found" };

  test("about a hidden resource, unless only the scope is missing", async () => {
    for (const action of ["webhook.read", "webhook.manage", "job.read", "job.run"] as const) {
      const least = action.startsWith("webhook") ? "admin" : "write";
      const refusals = [
        await refusalOf(roles.read, action, of(orgId)),
        await refusalOf(tokenOf(roles.read, { clientId: null }), action, of(orgId)),
        await refusalOf(tokenOf(roles.admin, { orgIds: [] }), action, of(orgId)),
        await refusalOf(tokenOf(roles.admin, { boundOrgId: otherOrgId }), action, of(orgId)),
        await refusalOf(tokenOf(roles.admin, { boundOrgId: orgId }), action, {
          ownerUserId: roles.admin.userId,
          ownerOrgId: null,
        }),
      ];
      expect([action, refusals]).toEqual([action, refusals.map(() => missing)]);
      const unscoped = tokenOf(roles[least], { clientId: null, scopes: ["openid"] });
      expect(await refusalOf(unscoped, action, of(orgId))).toMatchObject({ code: "insufficient_scope" });
    }
  });

  test("to anonymous callers about private repositories", async () => {
    const actions = ["repo.read", "repo.read_content", "repo.write", "discussion.write", "repo.manage"] as const;
    for (const action of actions) {
      for (const repo of [owned({ orgId }), owned({ userId: roles.admin.userId })]) {
        expect([action, await refusalOf(anonymous, action, repo)]).toEqual([action, missing]);
      }
    }
    const open = owned({ orgId }, { isPrivate: false });
    for (const action of ["repo.write", "discussion.write", "repo.manage", "repo.request_access"] as const) {
      expect([action, await refusalOf(anonymous, action, open)]).toMatchObject([action, { code: "unauthorized" }]);
    }
    expect(await refusalOf(anonymous, "repo.read_content", { ...open, isGated: true })).toMatchObject({ code: "unauthorized" });
    expect(await refusalOf(anonymous, "organization.manage", { orgId })).toMatchObject({ code: "unauthorized" });
  });
});

test("S113 a user whose authentication is too old is asked to authenticate again", async () => {
  const longAgo = { ...roles.admin, authenticatedAt: new Date(0) };
  expect(await refusalOf(longAgo, "organization.manage_security", { orgId })).toEqual({
    code: "reauthentication_required",
    message: "Confirm your identity to continue.",
  });
  const cli = tokenOf(roles.admin, { isFirstParty: true, scopes: ["manage-repos"], authenticatedAt: new Date(0) });
  expect(await refusalOf(cli, "oauth_app.manage_security", of(orgId))).toMatchObject({
    code: "reauthentication_required",
    message: expect.stringContaining("Sign in again from the command line"),
  });
  expect(await refusalOf({ ...longAgo, userId: roles.read.userId }, "organization.manage_security", { orgId })).toMatchObject({
    code: "forbidden",
  });
});

test("S95 a token of the command line that was exchanged for an organization may not manage the organization's apps", async () => {
  const cli = tokenOf(roles.admin, { isFirstParty: true, orgIds: [orgId] });
  expect(await may(cli, "oauth_app.manage", of(orgId))).toBe(true);
  expect(await may({ ...cli, boundOrgId: orgId }, "oauth_app.manage", of(orgId))).toBe(false);
});
