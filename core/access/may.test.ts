import { type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { type Actor, operatorCommand, type Person, type TokenHolder } from "./actor.ts";
import { may, partyOf, requirePermission } from "./may.ts";
import { type Action, type ResourceOf, rules } from "./rules.ts";

const actors = ["owner", "admin", "write", "contributor", "read", "stranger", "operator", "command"] as const;
type Who = (typeof actors)[number];

const everybody: Who[] = [...actors];
const members: Who[] = ["admin", "write", "contributor", "read"];

/** Repeats the whole table, so that every change of rules.ts needs a change here (S135). */
const expected: Record<Action, Who[]> = {
  "user.create": ["operator", "command"],
  "user.update": ["owner", "command"],
  "user.change_email": ["owner", "command"],
  "user.inspect": ["operator", "command"],
  "user.disable": ["operator", "command"],
  "user.end_sessions": ["operator", "command"],
  "user.set_operator": ["operator", "command"],
  "user.delete": ["owner", "operator", "command"],
  "user.set_password": ["owner", "command"],
  "linked_identity.link": ["owner", "command"],
  "linked_identity.unlink": ["owner", "command"],
  "second_step.manage": ["owner", "command"],
  "second_step.reset": ["operator", "command"],
  "personal_access_token.list": ["owner", "command"],
  "personal_access_token.create": ["owner", "command"],
  "personal_access_token.revoke": ["owner", "operator", "command"],
  "user.list_publishers": ["owner", "command"],
  "user.manage_publishers": ["owner", "command"],
  "organization.create": everybody,
  "organization.read_membership": [...members, "operator", "command"],
  "organization.list_members": [...members, "operator", "command"],
  "organization.leave": [...members, "command"],
  "organization.manage": ["admin", "operator", "command"],
  "organization.manage_defaults": ["admin", "operator", "command"],
  "organization.manage_security": ["admin", "operator", "command"],
  "organization.ask_for_app": [...members, "command"],
  "organization.transfer": ["admin", "command"],
  "organization.delete": ["admin", "operator", "command"],
  "audit_log.read": ["admin", "operator", "command"],
  "organization.revoke_token": ["admin", "command"],
  "security_log.read": ["owner", "command"],
  "organization.add_member": ["operator", "command"],
  "organization.list_publishers": ["admin", "command"],
  "organization.set_plan": ["operator", "command"],
  "oauth_app.create": ["owner", "admin", "command"],
  "oauth_app.read": ["owner", "admin", "operator", "command"],
  "oauth_app.manage": ["owner", "admin", "command"],
  "oauth_app.manage_security": ["owner", "admin", "command"],
  "oauth_app.operate": ["operator", "command"],
  "repo.read": ["owner", ...members, "command"],
  "repo.read_content": ["owner", ...members, "command"],
  "repo.request_access": ["command"],
  "access_request.withdraw": ["owner", "command"],
  "repo.create": ["owner", "admin", "write", "contributor", "command"],
  "repo.write": ["owner", "admin", "write", "command"],
  "repo.manage": ["owner", "admin", "write", "command"],
  "repo.manage_publishers": ["owner", "admin", "write", "command"],
  "discussion.write": ["owner", ...members, "command"],
  "repo.propose_files": ["owner", ...members, "command"],
  "discussion.edit_comment": ["command"],
  "discussion.update": ["owner", "admin", "write", "command"],
  "discussion.moderate": ["owner", "admin", "write", "command"],
  "discussion.merge": ["owner", "admin", "write", "command"],
  "collection.read": ["owner", ...members, "command"],
  "collection.create": ["owner", "admin", "write", "contributor", "command"],
  "collection.write": ["owner", "admin", "write", "command"],
  "inference.use": ["owner", ...members, "command"],
  "inference.read_usage": ["owner", "operator", "command"],
  "storage.read": ["owner", ...members, "operator", "command"],
  "webhook.read": ["owner", "admin", "command"],
  "webhook.manage": ["owner", "admin", "command"],
  "relay.read": ["owner", "command"],
  "relay.manage": ["owner", "command"],
  "job.read": ["owner", "admin", "write", "command"],
  "job.run": ["owner", "admin", "write", "command"],
  "installation.operate": ["operator", "command"],
  "installation.configure": ["operator", "command"],
};

async function person(isOperator = false): Promise<Person> {
  const id = newId();
  await db().user.create({
    data: { id, username: id, fullName: id, email: `${id}@example.test`, emailCanonical: `${id}@example.test`, isOperator },
  });
  return { kind: "person", userId: id, isOperator, sessionId: newId(), authenticatedAt: new Date() };
}

async function organizationWith(members: [Person, OrganizationRole][]): Promise<{ id: string }> {
  const id = newId();
  await db().organization.create({ data: { id, name: id, fullName: id } });
  for (const [{ userId }, role] of members) await db().membership.create({ data: { orgId: id, userId, role } });
  return { id };
}

const owner = await person();
const roles = Object.fromEntries(
  await Promise.all(organizationRoles.map(async (role) => [role, await person()] as const)),
) as Record<OrganizationRole, Person>;
const admin = roles.admin;
const people: Record<Who, Actor> = {
  ...roles,
  owner,
  stranger: await person(),
  operator: await person(true),
  command: operatorCommand,
};
const organization = await organizationWith(organizationRoles.map((role) => [roles[role], role]));

function resourcesFor<A extends Action>(action: A): ResourceOf<A>[] {
  const owners = [
    { ownerUserId: owner.userId, ownerOrgId: null },
    { ownerUserId: null, ownerOrgId: organization.id },
  ];
  const things = owners.map((one) => ({ ...one, isPrivate: true, createdById: null, createdByClientId: null }));
  const repos = things.map((one) => ({ ...one, repoId: newId(), isGated: false }));
  const byKind = {
    namespace: owners,
    repo: repos,
    contribution: repos.map((repo) => ({ repo, authorId: null })),
    collection: things,
    installation: [null],
    user: [{ userId: owner.userId }],
    organization: [{ orgId: organization.id }],
    oauthApp: owners,
  };
  return byKind[rules[action].on] as ResourceOf<A>[];
}

const mayAny = async (actor: Actor, action: Action) =>
  (await Promise.all(resourcesFor(action).map((resource) => may(actor, action, resource)))).some(Boolean);

describe("S135 may", () => {
  test.each(Object.keys(rules) as Action[])("%s", async (action) => {
    const allowed: Who[] = [];
    for (const who of actors) if (await mayAny(people[who], action)) allowed.push(who);
    expect(allowed.sort()).toEqual([...expected[action]].sort());
  });

  test("an administrator may manage the organization's apps, and a user the user's own apps, but not vice versa", async () => {
    const [ofUser, ofOrganization] = resourcesFor("oauth_app.manage");
    expect(await may(people.admin, "oauth_app.manage", ofUser as never)).toBe(false);
    expect(await may(people.owner, "oauth_app.manage", ofOrganization as never)).toBe(false);
    expect(await may(people.admin, "oauth_app.manage", ofOrganization as never)).toBe(true);
    expect(await may(people.owner, "oauth_app.manage", { ownerUserId: null, ownerOrgId: null })).toBe(false);
  });

  test("S113 exactly the actions that the table marks require recent authentication", async () => {
    for (const action of Object.keys(rules) as Action[]) {
      for (const who of ["owner", "admin", "operator"] as const) {
        const fresh = await mayAny(people[who], action);
        const stale = await mayAny({ ...people[who], authenticatedAt: new Date(0) } as Actor, action);
        expect([action, who, stale]).toEqual([action, who, fresh && !("recent" in rules[action])]);
      }
    }
  });

  test("a token may do only what its scopes and organizations allow", async () => {
    const token = (orgIds: string[] | "all", userId = admin.userId): Actor => ({
      kind: "token",
      tokenId: "a token",
      userId,
      scopes: [],
      orgIds,
      clientId: null,
    });
    const read = (actor: Actor) => may(actor, "organization.read_membership", { orgId: organization.id });
    expect(await read(token([organization.id]))).toBe(true);
    expect(await read(token("all"))).toBe(true);
    expect(await read(token([newId()]))).toBe(false);
    expect(await read(token([]))).toBe(false);
    expect(await read(token("all", owner.userId))).toBe(false);
    for (const action of Object.keys(rules) as Action[]) {
      if (action === "organization.read_membership" || action === "organization.list_members") continue;
      expect([action, await mayAny(token("all"), action), await mayAny(token("all", owner.userId), action)]).toEqual([
        action,
        false,
        false,
      ]);
    }
  });

  test("S138 `may` refuses every actor if the resource's ID is invalid", async () => {
    for (const bad of ["\0", "x".repeat(10_000), "' OR 1=1 --"]) {
      for (const actor of [people.operator, people.command, people.owner]) {
        expect(await may(actor, "organization.manage", { orgId: bad })).toBe(false);
        expect(await may(actor, "user.delete", { userId: bad })).toBe(false);
      }
    }
  });

  test("`may` reads the role again for each decision", async () => {
    const someone = await person();
    const { id } = await organizationWith([[someone, "admin"]]);
    expect(await may(someone, "organization.manage", { orgId: id })).toBe(true);
    await db().membership.update({ where: { orgId_userId: { orgId: id, userId: someone.userId } }, data: { role: "write" } });
    expect(await may(someone, "organization.manage", { orgId: id })).toBe(false);
  });
});

describe("requirePermission", () => {
  test("throws the error that the action's rule names", async () => {
    const [app] = resourcesFor("oauth_app.manage_security");
    const ask = (actor: Actor) => requirePermission(actor, "oauth_app.manage_security", app as never, { what: "OAuth app" });
    await expect(ask(people.stranger)).rejects.toMatchObject({ code: "not_found", message: "OAuth app not found" });
    await expect(ask({ ...people.owner, authenticatedAt: new Date(0) } as Actor)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await expect(ask(people.owner)).resolves.toBeUndefined();
    await expect(
      requirePermission(people.stranger, "organization.manage", { orgId: organization.id }, { what: "Organization" }),
    ).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("users' own programs", () => {
  const token = (changes: Partial<TokenHolder> = {}): TokenHolder => ({
    kind: "token",
    tokenId: "a token",
    userId: owner.userId,
    scopes: ["manage-repos"],
    orgIds: "all",
    clientId: null,
    ...changes,
  });
  const [app] = resourcesFor("oauth_app.manage");
  const ofOrganization = { ownerUserId: null, ownerOrgId: organization.id };
  const actions = ["oauth_app.create", "oauth_app.read", "oauth_app.manage"] as const;

  test("may manage OAuth apps, which an app or an exchanged token may not", async () => {
    const own = [token(), token({ clientId: "cli", isFirstParty: true })];
    const others = [
      token({ clientId: "an app" }),
      token({ boundOrgId: organization.id, clientId: "cli", isFirstParty: true }),
      token({ isReadOnly: true }),
      token({ scopes: ["write-repos", "openid"] }),
    ];
    for (const action of actions) {
      for (const actor of own) expect(await may(actor, action, app as never)).toBe(true);
      for (const actor of others) expect(await may(actor, action, app as never)).toBe(false);
      expect(await may(token({ userId: admin.userId }), action, ofOrganization)).toBe(true);
      expect(await may(token({ userId: admin.userId, clientId: "an app" }), action, ofOrganization)).toBe(false);
    }
    const refusal = (actor: TokenHolder) => requirePermission(actor, "oauth_app.read", app as never, { what: "OAuth app" });
    await expect(refusal(token({ clientId: "an app" }))).rejects.toMatchObject({ code: "forbidden" });
    await expect(refusal(token({ scopes: [] }))).rejects.toMatchObject({ code: "insufficient_scope", scope: "manage-repos" });
    await expect(refusal(token({ userId: admin.userId }))).rejects.toMatchObject({ code: "not_found" });
  });

  test("S137 share the user's limits, while apps, exchanged tokens and CI jobs have limits of their own", () => {
    const parties = [token(), token({ clientId: "an app" })].concat(
      ["one", "another"].map((boundOrgId) => token({ clientId: boundOrgId, boundOrgId })),
    );
    const job = { kind: "publisher", publisherId: "p", trustedById: owner.userId, repoId: "r", description: "" } as const;
    expect(new Set([...parties, job].map(partyOf)).size).toBe(5);
    expect(partyOf(token({ clientId: "cli", isFirstParty: true }))).toBe(partyOf(token()));
    expect(partyOf(token({ clientId: "another app" }))).toBe(partyOf(token({ clientId: "an app" })));
  });

  test("reach only the granted organizations if they are the service's command line", async () => {
    const cli = (orgIds: string[]) => token({ userId: admin.userId, clientId: "cli", isFirstParty: true, orgIds });
    expect(await may(cli([organization.id]), "oauth_app.manage", ofOrganization)).toBe(true);
    expect(await may(cli([]), "oauth_app.manage", ofOrganization)).toBe(false);
    const withScope = (clientId: string, isFirstParty?: true) =>
      token({ userId: admin.userId, clientId, isFirstParty, orgIds: [organization.id], scopes: ["webhooks"] });
    expect(await may(withScope("cli", true), "webhook.manage", ofOrganization)).toBe(true);
    expect(await may(withScope("an app"), "webhook.manage", ofOrganization)).toBe(false);
  });

  test("S113 may change an app's security only at the command line and only after a recent authentication", async () => {
    const ask = (actor: TokenHolder) =>
      requirePermission(actor, "oauth_app.manage_security", app as never, { what: "OAuth app" });
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const cli = (authenticatedAt?: Date) => token({ clientId: "cli", isFirstParty: true, authenticatedAt });
    await expect(ask(cli(minutesAgo(1)))).resolves.toBeUndefined();
    for (const stale of [cli(minutesAgo(16)), cli(), token(), token({ authenticatedAt: new Date() })]) {
      await expect(ask(stale)).rejects.toMatchObject({ code: "reauthentication_required" });
    }
    await expect(ask(token({ clientId: "an app", authenticatedAt: new Date() }))).rejects.toMatchObject({ code: "forbidden" });
  });
});
