import { afterAll, describe, expect, test } from "vitest";
import { personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { emailsTo, fillAuditHour, staleActor } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { listConsents } from "../consents/list-consents.ts";
import { ask, openQuestion } from "../testing/authorization.ts";
import { prepare, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { findBearer } from "../tokens/find-bearer.ts";
import { findRefusals, readAppPolicy, setAppPolicy } from "./app-policy.ts";
import { askForApp } from "./ask-for-app.ts";
import { decideApp } from "./decide-app.ts";
import { listOrganizationApps } from "./list-organization-apps.ts";

const world = await startWorld();
afterAll(() => world.stop());

const uniqueName = () => `org-${newId()}`;
const READS = { scope: "openid profile email read-repos offline_access" };

async function organizationWith(...memberIds: string[]) {
  const user = await world.user(`admin-${newId()}`);
  const session = await world.signIn(world.browser(), user);
  const name = uniqueName();
  const id = await world.organization(name, {
    [user.id]: "admin",
    ...Object.fromEntries(memberIds.map((each) => [each, "write"])),
  });
  return { id, name, admin: personActor(session), adminEmail: user.email };
}

async function reachOf(token: string, organizations: { id: string }[], ownId: string) {
  const response = await world.userinfo(token);
  const { orgs } = (await response.json()) as { orgs: { sub: string }[] };
  const bearer = await findBearer(token, { scheme: "bearer" });
  if (!bearer) return { status: response.status, orgs: [], repos: [] };
  const { account, scopes, clientId = null, auditToken } = bearer;
  expect(auditToken.clientId).toBe(clientId);
  const orgIds = account.organizations.map(({ id }) => id);
  const actor = { kind: "token", tokenId: "a token", userId: account.id, scopes, orgIds, clientId } as const;
  const privately = { isPrivate: true, createdById: null, createdByClientId: null, repoId: newId(), isGated: false };
  const repos: string[] = [];
  for (const { id } of organizations) {
    if (await may(actor, "repo.read", { ...privately, ownerUserId: null, ownerOrgId: id })) repos.push(id);
  }
  if (await may(actor, "repo.read", { ...privately, ownerUserId: ownId, ownerOrgId: null })) repos.push(ownId);
  return { status: response.status, orgs: orgs.map(({ sub }) => sub).toSorted(), repos: repos.toSorted() };
}

describe("the policy", () => {
  test("an app that the organization no longer allows loses access only to this organization, with its next call", async () => {
    const at = await prepare(world, { scopes: ["openid", "profile", "email", "read-repos"], isRefreshAllowed: true });
    const [north, tide] = [await organizationWith(at.person.id), await organizationWith(at.person.id)];
    const both = [north, tide];
    const ids = both.map(({ id }) => id).toSorted();
    const done = await world.signInWith(at.app, at.session, at.browser, READS, { orgIds: ids });
    const token = done.tokens.access_token;
    const refreshToken = done.tokens.refresh_token as string;
    const open = { status: 200, orgs: ids, repos: [...ids, at.person.id].toSorted() };
    const closed = { status: 200, orgs: [tide.id], repos: [tide.id, at.person.id].toSorted() };
    const reach = () => reachOf(token, both, at.person.id);
    expect(await reach()).toEqual(open);

    const { clientId } = at.app;
    const changes: [change: () => Promise<void>, expected: typeof open][] = [
      [() => decideApp(north.admin, north.id, { clientId, decision: "blocked" }, noOrigin), closed],
      [() => decideApp(north.admin, north.id, { clientId, decision: null }, noOrigin), open],
      [() => setAppPolicy(north.admin, north.id, "approved", noOrigin), closed],
      [() => decideApp(north.admin, north.id, { clientId, decision: "approved" }, noOrigin), open],
      [() => setAppPolicy(north.admin, north.id, "none", noOrigin), closed],
      [() => setAppPolicy(north.admin, north.id, "all", noOrigin), open],
    ];
    for (const [change, expected] of changes) {
      await change();
      expect(await reach()).toEqual(expected);
    }
    await decideApp(north.admin, north.id, { clientId, decision: "blocked" }, noOrigin);
    const fresh = await refresh(at, refreshToken);
    expect(await reachOf(fresh.body.access_token, both, at.person.id)).toEqual(closed);
    await decideApp(north.admin, north.id, { clientId, decision: null }, noOrigin);
    expect(await reachOf(fresh.body.access_token, both, at.person.id)).toEqual(open);

    expect(
      (await db().auditEvent.findMany({ where: { orgId: north.id }, orderBy: { createdAt: "asc" } })).map(({ type }) => type),
    ).toEqual([
      "oauth_consent.give_organization",
      "organization.block_app",
      "organization.reset_app",
      "organization.set_app_policy",
      "organization.approve_app",
      "organization.set_app_policy",
      "organization.set_app_policy",
      "organization.block_app",
      "organization.reset_app",
    ]);
  });

  test("determines with the organization's decisions which apps are allowed", async () => {
    const at = await prepare(world);
    const organization = await organizationWith(at.person.id);
    const bound = await world.app(at.person);
    await db().oAuthApp.update({ where: { id: bound.id }, data: { boundOrgId: organization.id } });
    const first = await world.app(at.person);
    await db().oAuthApp.update({ where: { id: first.id }, data: { isFirstParty: true } });
    const table = {
      all: [undefined, undefined, "blocked"],
      approved: ["not_approved", undefined, "blocked"],
      none: ["no_apps", "no_apps", "blocked"],
    } as const;
    const refusal = async (clientId: string) => (await findRefusals(clientId, [organization.id])).get(organization.id);
    for (const [policy, expected] of Object.entries(table)) {
      await setAppPolicy(organization.admin, organization.id, policy, noOrigin);
      expect(await readAppPolicy(organization.admin, organization.id)).toBe(policy);
      for (const [index, decision] of [null, "approved", "blocked"].entries()) {
        await db().organizationApp.deleteMany({ where: { orgId: organization.id } });
        if (decision)
          await db().organizationApp.create({ data: { orgId: organization.id, clientId: at.app.clientId, decision } });
        expect([policy, decision, await refusal(at.app.clientId)]).toEqual([policy, decision, expected[index]]);
      }
      expect(await refusal(first.clientId)).toBeUndefined();
      expect(await refusal(bound.clientId)).toBeUndefined();
    }
    await expect(
      decideApp(organization.admin, organization.id, { clientId: first.clientId, decision: "blocked" }, noOrigin),
    ).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("can be changed only by administrators", async () => {
    const at = await prepare(world);
    const organization = await organizationWith(at.person.id);
    const [writer, stranger] = [personActor(at.session), personActor((await prepare(world)).session)];
    const { clientId } = at.app;
    for (const actor of [writer, stranger]) {
      for (const orgId of [organization.id, newId(), "\0"]) {
        await expect(setAppPolicy(actor, orgId, "none", noOrigin)).rejects.toMatchObject({ code: "forbidden" });
        await expect(decideApp(actor, orgId, { clientId, decision: "approved" }, noOrigin)).rejects.toMatchObject({
          code: "forbidden",
        });
        await expect(listOrganizationApps(actor, orgId)).rejects.toMatchObject({ code: "forbidden" });
        await expect(readAppPolicy(actor, orgId)).rejects.toMatchObject({ code: "forbidden" });
      }
    }
    await expect(setAppPolicy(organization.admin, organization.id, "some", noOrigin)).rejects.toMatchObject({ field: "policy" });
    for (const unknown of [newId(), "\0", "https://nobody.example/.well-known/oauth-cimd", "x".repeat(100_000)]) {
      await expect(
        decideApp(organization.admin, organization.id, { clientId: unknown, decision: "approved" }, noOrigin),
      ).rejects.toMatchObject({ code: "not_found", field: "clientId" });
    }
    expect(await readAppPolicy(staleActor(organization.admin), organization.id)).toBe("all");
  });
});

describe("the permissions modal", () => {
  test("S33 an organization that does not allow the app is shown unticked with the reason, and cannot be granted", async () => {
    const at = await prepare(world, { scopes: ["openid", "profile", "email", "read-repos"] });
    const [open, waiting, none, blocked] = await Promise.all([1, 2, 3, 4].map(() => organizationWith(at.person.id)));
    if (!open || !waiting || !none || !blocked) throw new Error("four were made");
    await setAppPolicy(waiting.admin, waiting.id, "approved", noOrigin);
    await setAppPolicy(none.admin, none.id, "none", noOrigin);
    await decideApp(blocked.admin, blocked.id, { clientId: at.app.clientId, decision: "blocked" }, noOrigin);
    const all = [open, waiting, none, blocked].map(({ id }) => id);
    const { request, allow } = await openQuestion(at, { ...READS, orgIds: all.join(",") });
    const shown = new Map(request.organizations.map((each) => [each.id, each]));
    expect(all.map((id) => [shown.get(id)?.refusal, shown.get(id)?.isTicked, shown.get(id)?.isAskedFor])).toEqual([
      [null, true, true],
      ["not_approved", false, true],
      ["no_apps", false, true],
      ["blocked", false, true],
    ]);
    for (const { id } of [waiting, none, blocked]) {
      await expect(allow({ orgIds: [open.id, id] })).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(await db().oAuthConsent.count({ where: { userId: at.person.id } })).toBe(0);
    await allow();
    const consent = await db().oAuthConsent.findFirstOrThrow({ where: { userId: at.person.id } });
    expect(consent).toMatchObject({ orgIds: [open.id], declinedOrgIds: [] });

    expect((await ask(at, { ...READS, orgIds: waiting.id })).isQuestion).toBe(false);
    await decideApp(waiting.admin, waiting.id, { clientId: at.app.clientId, decision: "approved" }, noOrigin);
    const again = await openQuestion(at, { ...READS, orgIds: waiting.id });
    expect(again.request.organizations[0]).toMatchObject({ id: waiting.id, refusal: null, isTicked: true });
  });

  test('S32 "all organizations" includes an organization once it allows the app', async () => {
    const at = await prepare(world, { scopes: ["openid", "profile", "email", "read-repos"] });
    const [open, closed] = [await organizationWith(at.person.id), await organizationWith(at.person.id)];
    await setAppPolicy(closed.admin, closed.id, "approved", noOrigin);
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, READS, { isAllOrgs: true });
    const both = [open, closed];
    expect((await reachOf(tokens.access_token, both, at.person.id)).orgs).toEqual([open.id]);
    expect((await db().oAuthConsent.findFirstOrThrow({ where: { userId: at.person.id } })).orgIds).toEqual([open.id]);
    expect((await listConsents(at.person.id)).items).toMatchObject([
      { isAllOrgs: true, closedOrganizations: [{ id: closed.id }] },
    ]);
    await decideApp(closed.admin, closed.id, { clientId: at.app.clientId, decision: "approved" }, noOrigin);
    expect((await reachOf(tokens.access_token, both, at.person.id)).orgs).toEqual([open.id, closed.id].toSorted());
    expect((await listConsents(at.person.id)).items).toMatchObject([{ closedOrganizations: [] }]);
  });

  test("an organization that blocks the app stays granted when the user answers the modal again", async () => {
    const at = await prepare(world, { scopes: ["openid", "profile", "email", "read-repos"] });
    const organization = await organizationWith(at.person.id);
    await world.signInWith(at.app, at.session, at.browser, { scope: "openid profile" }, { orgIds: [organization.id] });
    await decideApp(organization.admin, organization.id, { clientId: at.app.clientId, decision: "blocked" }, noOrigin);
    expect((await listConsents(at.person.id)).items).toMatchObject([
      { organizations: [{ id: organization.id }], closedOrganizations: [{ id: organization.id }] },
    ]);
    const question = await openQuestion(at, READS);
    expect(question.request.organizations).toMatchObject([{ refusal: "blocked", isAlreadyGranted: true, isTicked: false }]);
    await question.allow();
    expect(await db().oAuthConsent.findFirstOrThrow({ where: { userId: at.person.id, revokedAt: null } })).toMatchObject({
      orgIds: [organization.id],
    });
  });
});

describe("asking for an app", () => {
  test("several requests of one member send one email to the administrators, whose answer ends the request", async () => {
    const at = await prepare(world, { name: 'Paper "Lantern"' });
    const second = await prepare(world);
    const organization = await organizationWith(at.person.id, second.person.id);
    const { clientId } = at.app;
    await setAppPolicy(organization.admin, organization.id, "approved", noOrigin);
    const member = personActor(at.session);
    await Promise.all([1, 2, 3].map(() => askForApp(member, organization.id, clientId, noOrigin)));
    await askForApp(personActor(second.session), organization.id, clientId, noOrigin);
    expect(await emailsTo(organization.adminEmail)).toHaveLength(1);
    expect((await emailsTo(organization.adminEmail))[0]?.text).toContain(
      `/organizations/${organization.name}/settings/app-policy`,
    );
    expect(await listOrganizationApps(organization.admin, organization.id, { state: "waiting" })).toMatchObject({
      total: 1,
      items: [{ clientId, requestCount: 2, askedBy: at.person.username, isAdmitted: false, decision: null }],
    });
    expect((await openQuestion(at)).request.organizations).toMatchObject([
      { isApprovalRequested: true, refusal: "not_approved" },
    ]);

    await decideApp(organization.admin, organization.id, { clientId, decision: "approved" }, noOrigin);
    expect(await db().organizationAppRequest.count({ where: { orgId: organization.id } })).toBe(0);
    for (const { email } of [at.person, second.person]) expect((await emailsTo(email))[0]?.subject).toContain("was approved in");
    await expect(askForApp(member, organization.id, clientId, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    expect(await db().auditEvent.count({ where: { orgId: organization.id, type: "organization.request_app" } })).toBe(2);
  });

  test("the email about an approval says that the app must wait while the organization allows no apps", async () => {
    const at = await prepare(world);
    const organization = await organizationWith(at.person.id);
    const { clientId } = at.app;
    await setAppPolicy(organization.admin, organization.id, "approved", noOrigin);
    await askForApp(personActor(at.session), organization.id, clientId, noOrigin);
    await setAppPolicy(organization.admin, organization.id, "none", noOrigin);
    await decideApp(organization.admin, organization.id, { clientId, decision: "approved" }, noOrigin);
    const [answer] = await emailsTo(at.person.email);
    expect(answer?.text).toContain("allows no apps at present");
    expect(answer?.text).not.toContain("Sign in to it again");
  });

  test("a request for a blocked or unknown app, or by a user outside the organization, is refused", async () => {
    const at = await prepare(world);
    const organization = await organizationWith(at.person.id);
    const [member, stranger] = [personActor(at.session), personActor((await prepare(world)).session)];
    const { clientId } = at.app;
    await setAppPolicy(organization.admin, organization.id, "none", noOrigin);
    await expect(askForApp(member, organization.id, clientId, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    await setAppPolicy(organization.admin, organization.id, "approved", noOrigin);
    await expect(askForApp(member, organization.id, newId(), noOrigin)).rejects.toMatchObject({ code: "not_found" });
    await expect(askForApp(member, organization.id, "\0", noOrigin)).rejects.toMatchObject({ code: "not_found" });
    for (const orgId of [organization.id, newId()]) {
      await expect(askForApp(stranger, orgId, clientId, noOrigin)).rejects.toMatchObject({ code: "not_found" });
    }
    await decideApp(organization.admin, organization.id, { clientId, decision: "blocked" }, noOrigin);
    await expect(askForApp(member, organization.id, clientId, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    expect(await db().organizationAppRequest.count()).toBe(0);
  });

  test("S56 a user cannot flood the administrators' mailbox", async () => {
    const at = await prepare(world);
    const organization = await organizationWith(at.person.id);
    await setAppPolicy(organization.admin, organization.id, "approved", noOrigin);
    const member = personActor(at.session);
    const apps = await Promise.all(Array.from({ length: 21 }, () => world.app(at.person)));
    for (const { clientId } of apps.slice(0, 20)) await askForApp(member, organization.id, clientId, noOrigin);
    await expect(askForApp(member, organization.id, apps[20]?.clientId ?? "", noOrigin)).rejects.toMatchObject({
      code: "rate_limited",
    });
  });
});

test("an organization's list has each app once, with the number of members who allow it", async () => {
  const [one, two] = [await signIn(world, { name: "Zephyr 100%" }), await signIn(world, { name: "Anchor" })];
  const organization = await organizationWith(one.person.id, two.person.id);
  for (const at of [one, two]) {
    await (await openQuestion({ ...at, app: one.app }, { prompt: "consent" })).allow({ orgIds: [organization.id] });
  }
  const stranger = await prepare(world);
  await (await openQuestion({ ...stranger, app: two.app })).allow({ isAllOrgs: true });
  await (await openQuestion({ ...two, app: two.app }, { prompt: "consent" })).allow({ isAllOrgs: true });
  const unused = await world.app(stranger.person, { name: "Buoy" });
  await decideApp(organization.admin, organization.id, { clientId: unused.clientId, decision: "blocked" }, noOrigin);

  const list = (search = {}) => listOrganizationApps(organization.admin, organization.id, search);
  const names = async (search = {}) => (await list(search)).items.map(({ name }) => name);
  expect(await list()).toMatchObject({
    total: 3,
    items: [
      { name: "Anchor", memberCount: 1, decision: null, isAdmitted: true },
      { name: "Buoy", memberCount: 0, decision: "blocked", isAdmitted: false },
      { name: "Zephyr 100%", memberCount: 2, decision: null, isAdmitted: true },
    ],
  });
  expect(await names({ text: "ZEPH" })).toEqual(["Zephyr 100%"]);
  expect(await names({ text: "%" })).toEqual(["Zephyr 100%"]);
  expect(await names({ text: "_" })).toEqual([]);
  expect(await names({ text: unused.clientId })).toEqual(["Buoy"]);
  expect(await names({ state: "blocked" })).toEqual(["Buoy"]);
  expect(await names({ state: "undecided" })).toEqual(["Anchor", "Zephyr 100%"]);
  expect(await names({ page: 2, pageSize: 2 })).toEqual(["Zephyr 100%"]);
  for (const text of ["\0", "\ud800", "x".repeat(1_000_000)]) expect((await list({ text })).page).toBe(1);
});

test("S144 a user who has changed too much in an hour can still allow fewer apps", async () => {
  const { id, admin } = await organizationWith();
  await fillAuditHour(admin.userId);
  await setAppPolicy(admin, id, "none", noOrigin);
  await expect(setAppPolicy(admin, id, "all", noOrigin)).rejects.toMatchObject({ code: "rate_limited" });
});

test("S137 an organization keeps at most 1,000 decisions", async () => {
  const at = await prepare(world);
  const { admin, id } = await organizationWith();
  await pool().query(
    `INSERT INTO organization_app (org_id, client_id, decision) SELECT $1, 'https://app.example/' || n, 'approved' FROM generate_series(1, 1000) n`,
    [id],
  );
  const decide = (clientId: string, decision: "approved" | "blocked" | null) =>
    decideApp(admin, id, { clientId, decision }, noOrigin);
  await expect(decide(at.app.clientId, "blocked")).rejects.toMatchObject({ code: "conflict" });
  await decide("https://app.example/1", null);
  await decide(at.app.clientId, "approved");
  await decide(at.app.clientId, "blocked");
});
