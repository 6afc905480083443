import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { emailsTo, from, organizationOf, outcomes, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { auditEventTypes } from "#core/audit/event-types.ts";
import { ENTRIES_ABOUT } from "#core/audit/record-about-somebody.ts";
import { type NewAuditEvent, recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { revokeLeakedCredentials } from "#core/oauth/leaks/revoke-leaked-credentials.ts";
import { revokeTokenAtOrganization } from "#core/oauth/leaks/revoke-token-at-organization.ts";
import { exchange, prepareExchange } from "#core/oauth/testing/exchange.ts";
import { type Prepared, prepare, refresh, type SignIn, signIn } from "#core/oauth/testing/sign-in.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const tokenOf = (userId: string, scopes = ["manage-repos"], name = "laptop") =>
  createPersonalAccessToken(operatorCommand, userId, { name, scopes, expiresInDays: null }, from);

const send = (path: string, body: unknown, token?: string) =>
  fetch(world.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
const report = (...credentials: unknown[]) => send("/api/credentials/revoke", { credentials });

const whoami = async (token: string) => fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${token}` } });
const isLive = async (token: string) => (await whoami(token)).status === 200;
const recordMany = (entry: Pick<NewAuditEvent, "type" | "actorId" | "subjectId" | "orgId">) =>
  db().$transaction(async (tx) => {
    for (let each = 0; each < ENTRIES_ABOUT; each++) await recordAuditEvent(tx, entry);
  });

async function jobToken(repoId: string, description = "run 7") {
  const publisher = { id: newId(), repoId, preset: "oidc", issuer: "https://ci.example.com", claims: {} };
  await db().trustedPublisher.create({ data: publisher });
  const token = `kh_jwt_${newId()}`;
  const job = { id: newId(), tokenHash: hashToken(token), last4: "aked", publisherId: publisher.id, repoId, description };
  await db().ciToken.create({ data: { ...job, expiresAt: new Date(Date.now() + 60_000) } });
  return token;
}
/** Deletes the used tokens, as the service does when an app refreshes in a loop (S143). */
const forgetUsed = (clientId: string) => db().oAuthArtifact.deleteMany({ where: { clientId, consumedAt: { not: null } } });
const leaks = (clause: object) => db().auditEvent.findMany({ where: clause, orderBy: { createdAt: "asc" } });

describe("POST /api/credentials/revoke (docs/specification/organizations-and-tokens.md#leaked-tokens)", () => {
  test("revokes tokens of every kind at once, sends each owner one email, and reveals nothing to the finder", async () => {
    const at: SignIn & Prepared = await signIn(
      world,
      { name: "Paper Lantern", isConfidential: true },
      { scope: "openid offline_access" },
    );
    const again = await signIn(world, {}, { scope: "openid offline_access" });
    const { token, id } = await tokenOf(at.person.id);
    const untouched = await tokenOf(at.person.id, ["read-repos"], "desktop");
    expect([await isLive(at.tokens.access_token), await isLive(token)]).toEqual([true, true]);

    const answer = await report(
      token,
      at.tokens.access_token,
      at.app.secret,
      again.tokens.refresh_token,
      "kh_unknown",
      "\u{1f511}",
    );
    expect([answer.status, await answer.text()]).toEqual([202, ""]);

    expect([await isLive(token), await isLive(at.tokens.access_token), await isLive(again.tokens.access_token)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(await isLive(untouched.token)).toBe(true);
    for (const one of [at, again]) expect((await refresh(one, one.tokens.refresh_token)).body.error).toBe("invalid_grant");
    // A stranger's report must not lock out the app's users.
    const secret = await world.post(
      "/oauth/introspect",
      { token: "x" },
      { authorization: world.basic(at.app.clientId, at.app.secret ?? "") },
    );
    expect(secret.status).toBe(200);

    const messages = await emailsTo(at.person.email);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.text).toContain('your access token "laptop": it is revoked');
    expect(messages[0]?.text).toContain('the app "Paper Lantern" got from you');
    expect(messages[0]?.text).toContain("Rotate it now");
    for (const value of [token, at.tokens.access_token, at.app.secret ?? ""])
      expect(messages[0]?.text).not.toContain(value.slice(5));
    expect(await emailsTo(again.person.email)).toHaveLength(1);

    const recorded = await leaks({
      subjectId: at.person.id,
      type: { in: ["credential.revoke_leaked", "oauth_app.secret_leaked"] },
    });
    const byKind = Object.fromEntries(recorded.map(({ data }) => [(data as { kind: string }).kind, data]));
    expect(recorded).toHaveLength(3);
    expect(byKind).toEqual({
      personal: { kind: "personal", tokenId: id, name: "laptop", last4: token.slice(-4) },
      oauth: { kind: "oauth", tokenId: expect.any(String), last4: at.tokens.access_token.slice(-4) },
      client_secret: { kind: "client_secret", tokenId: expect.any(String), last4: at.app.secret?.slice(-4) },
    });
    expect(JSON.stringify(recorded)).not.toContain(token.slice(5));

    await report(token, at.tokens.access_token);
    expect(await emailsTo(at.person.email)).toHaveLength(1);
  });

  test("S47 a used refresh token whose row was deleted ends its sign-in", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    const { body } = await refresh(at, at.tokens.refresh_token);
    await forgetUsed(at.app.clientId);
    await report(`${at.tokens.refresh_token}=`);
    expect(await isLive(body.access_token)).toBe(true);
    await report(at.tokens.refresh_token);
    expect(await isLive(body.access_token)).toBe(false);
    expect(await emailsTo(at.person.email)).toHaveLength(1);
  });

  test("S136 sends the same response after the same time for known and unknown tokens, and limits the body", async () => {
    const person = await signedInPerson();
    const { token } = await tokenOf(person.id);
    const timed = async (...credentials: string[]) => {
      const startedAt = performance.now();
      const answer = await report(...credentials);
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name)));
      return { shape: [answer.status, await answer.text(), headers], took: performance.now() - startedAt };
    };
    const [unknown, known] = [await timed("kh_nobodys"), await timed(token)];
    expect(known.shape).toEqual(unknown.shape);
    for (const { took } of [unknown, known]) expect(took).toBeGreaterThan(390);
    expect(await isLive(token)).toBe(false);
    const thousand = Array.from({ length: 1_000 }, (_, at) => `kh_${at}`);
    expect((await report(...thousand)).status).toBe(202);
    for (const bad of [[], [...thousand, "kh_x"], [""], ["x".repeat(201)], [7], [null]])
      expect((await report(...bad)).status).toBe(400);
    for (const body of [{}, { credentials: "kh_x" }, [], null])
      expect((await send("/api/credentials/revoke", body)).status).toBe(400);
    expect((await report("\0", "\ud800")).status).toBeLessThan(500);
  });

  test("S96 notifies administrators about leaked tokens with access to their organization, and about leaked secrets", async () => {
    const { app, orgId, admin, writer, stranger, ...at } = await prepareExchange(world);
    const { body } = await exchange({ ...at, app }, writer.email);
    await db().oAuthApp.update({ where: { id: app.id }, data: { ownerOrgId: null, ownerUserId: stranger.id } });
    const repo = await someRepo(await signedInPerson());
    const job = await jobToken(repo.id);

    for (let each = 0; each < 3; each++) await report(app.secret, body.access_token, job);

    const [message, ...others] = await emailsTo(admin.email);
    expect(message?.text).toContain("got for a member of the organization by token exchange: it is revoked");
    expect(message?.text).toContain("Rotate it now");
    expect(others).toEqual([]);
    expect((await emailsTo(stranger.email)).map(({ text }) => text.includes("Rotate it now"))).toEqual([true]);
    expect(await leaks({ orgId, type: "oauth_app.secret_leaked" })).toHaveLength(1);
    const owner = await db().user.findUniqueOrThrow({ where: { id: repo.owner.id } });
    expect((await emailsTo(owner.email))[0]?.text).toContain('the CI job "run 7"');
  });

  test("S144 revokes any number of tokens without filling a log or sending emails", async () => {
    const at = await signIn(world);
    const type = "credential.revoke_leaked";
    await recordMany({ type, subjectId: at.person.id });
    const ada = await signedInPerson();
    const { id: orgId, name: owner } = await organizationOf(ada);
    await recordMany({ type, orgId });
    const job = await jobToken((await createRepo(ada.actor, { type: "model", owner, name: "tide" }, from)).id);
    expect((await report(at.tokens.access_token, job)).status).toBe(202);
    expect(await isLive(at.tokens.access_token)).toBe(false);
    expect((await db().ciToken.findUniqueOrThrow({ where: { tokenHash: hashToken(job) } })).revokedAt).not.toBeNull();
    expect(await leaks({ type, OR: [{ subjectId: at.person.id }, { orgId }] })).toHaveLength(2 * ENTRIES_ABOUT);
    expect(await emailsTo(at.person.email)).toEqual([]);
  });

  test("S115 accepts only 60 requests in ten minutes, so that nobody can guess tokens", async () => {
    const statuses = await Promise.all(Array.from({ length: 80 }, () => report("kh_guess").then(({ status }) => status)));
    expect(statuses).toContain(202);
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status === 202).length).toBeLessThanOrEqual(60);
  });

  test("S115 counts an IPv6 client by its network, whichever of its addresses it uses", async () => {
    const from = (host: number) => ({ ip: `2001:db8:9:9::${host}`, userAgent: null });
    const ends = await outcomes(Array.from({ length: 61 }, (_, host) => revokeLeakedCredentials(["kh_guess"], from(host))));
    expect(ends.filter((end) => end === "rate_limited")).toHaveLength(1);
    await expect(revokeLeakedCredentials(["kh_guess"], { ip: "2001:db8:9:a::1", userAgent: null })).resolves.toBeUndefined();
  });
});

describe("POST /api/organizations/{name}/settings/tokens/revoke (docs/specification/organizations-and-tokens.md#leaked-tokens)", () => {
  let admin: TestPerson;
  let member: TestPerson;
  let org: { id: string; name: string };
  let adminToken: string;
  const revoke = (token: string, name = org.name, as = adminToken) =>
    send(`/api/organizations/${name}/settings/tokens/revoke`, { token }, as);
  const create = (token: string, organization: string | undefined, name: string) =>
    send("/api/repos/create", { name, type: "model", ...(organization && { organization }) }, token).then(({ status }) => status);
  const restrictionsOf = async (token: string) =>
    ((await (await whoami(token)).json()) as { orgs: { name: string; securityRestrictions?: string[] }[] }).orgs.find(
      ({ name }) => name === org.name,
    )?.securityRestrictions ?? [];

  beforeAll(async () => {
    [admin, member] = [await signedInPerson("ada"), await signedInPerson("bob")];
    org = await organizationOf(admin, [[member, "write"]]);
    adminToken = (await tokenOf(admin.id)).token;
  });

  test("S95 blocks the token only from the organization, for reading and writing, and notifies the token's owner", async () => {
    const [leaked, other] = [await tokenOf(member.id), await tokenOf(member.id, ["manage-repos"], "desktop")];
    expect(await create(leaked.token, org.name, "before")).toBe(200);
    expect((await revoke(leaked.token)).status).toBe(200);
    expect(await restrictionsOf(leaked.token)).toEqual(["token-revoked"]);
    expect(await create(leaked.token, org.name, "after")).toBe(403);
    const hidden = await send(
      "/api/repos/create",
      { name: "hidden", type: "model", private: true, organization: org.name },
      other.token,
    );
    expect(hidden.status).toBe(200);
    const read = (token: string) =>
      fetch(`${world.origin}/api/models/${org.name}/hidden`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
      );
    expect([await read(leaked.token), await read(other.token)]).toEqual([403, 200]);
    expect(await create(leaked.token, undefined, "mine")).toBe(200);
    expect(await restrictionsOf(other.token)).toEqual([]);
    const [message] = await emailsTo(member.email);
    expect(message?.text).toContain(`has blocked your access token "laptop". The token can no longer access the organization.`);
    const [event] = await leaks({ orgId: org.id, type: "organization.revoke_token" });
    expect(event).toMatchObject({ actorId: admin.id, subjectId: member.id, data: { kind: "personal", tokenId: leaked.id } });
    expect((await send(`/api/organizations/${org.name}/settings/tokens/${other.id}/revoke`, {}, adminToken)).status).toBe(200);
    expect((await send(`/api/organizations/${org.name}/settings/tokens/${other.id}/revoke`, {}, adminToken)).status).toBe(200);
    expect(await restrictionsOf(other.token)).toEqual(["token-revoked"]);
    // S144: a repeated revocation records nothing.
    expect(await leaks({ orgId: org.id, type: "organization.revoke_token", subjectId: member.id })).toHaveLength(2);
  });

  test("blocks an app's token together with its renewed tokens", async () => {
    const at = await prepare(world);
    await db().membership.create({ data: { orgId: org.id, userId: at.person.id, role: "write" } });
    const { tokens } = await world.signInWith(
      at.app,
      at.session,
      at.browser,
      { scope: "openid profile read-repos offline_access", orgIds: org.id },
      { orgIds: [org.id] },
    );
    expect(await restrictionsOf(String(tokens.access_token))).toEqual([]);
    // S116: the organization's administrators can read that a member allowed the app.
    const letIn = { orgId: org.id, type: "oauth_consent.give_organization", clientId: at.app.clientId };
    expect(await leaks(letIn)).toMatchObject([{ actorId: at.person.id, subjectId: at.person.id }]);
    expect((await revoke(String(tokens.access_token))).status).toBe(200);
    expect(await restrictionsOf(String(tokens.access_token))).toEqual(["token-revoked"]);
    const { body } = await refresh(at, String(tokens.refresh_token));
    expect(await restrictionsOf(body.access_token)).toEqual(["token-revoked"]);
    await db().organizationRevokedToken.deleteMany({ where: { orgId: org.id, userId: at.person.id } });
    await forgetUsed(at.app.clientId);
    expect((await revoke(String(tokens.refresh_token))).status).toBe(200);
    expect(await restrictionsOf(body.access_token)).toEqual(["token-revoked"]);
  });

  test("tells the user of a revoked exchanged token that they need not do anything", async () => {
    const { app, orgId, writer, ...at } = await prepareExchange(world);
    const { body } = await exchange({ ...at, app }, writer.email);
    await revokeTokenAtOrganization(operatorCommand, orgId, { token: body.access_token }, from);
    const [message] = await emailsTo(writer.email);
    expect(message?.text).toContain("The token no longer works.");
    expect(message?.text).not.toContain("sign in to the app again");
  });

  test("S144 blocks any number of tokens without filling a log or sending emails", async () => {
    const bea = await signedInPerson("bea");
    await db().membership.create({ data: { orgId: org.id, userId: bea.id, role: "write" } });
    const { token } = await tokenOf(bea.id);
    const type = "organization.revoke_token";
    await recordMany({ type, actorId: bea.id, subjectId: bea.id });
    expect((await revoke(token)).status).toBe(200);
    expect(await leaks({ type, orgId: org.id, subjectId: bea.id })).toHaveLength(1);
    await recordMany({ type, actorId: admin.id, subjectId: member.id });
    const other = await tokenOf(bea.id);
    expect((await revoke(other.token)).status).toBe(200);
    expect(await restrictionsOf(other.token)).toEqual(["token-revoked"]);
    expect(await leaks({ type, orgId: org.id, subjectId: bea.id })).toHaveLength(1);
    expect(await emailsTo(bea.email)).toHaveLength(1);
  });

  test("S136 accepts only administrators' requests about members' tokens", async () => {
    const stranger = await signedInPerson();
    const theirs = await tokenOf(stranger.id);
    for (const token of [theirs.token, "kh_unknown", "x"]) expect((await revoke(token)).status).toBe(404);
    for (const id of [theirs.id, "%00", "x", "0".repeat(24)])
      expect((await send(`/api/organizations/${org.name}/settings/tokens/${id}/revoke`, {}, adminToken)).status).toBe(404);
    expect(await isLive(theirs.token)).toBe(true);
    const own = await tokenOf(member.id);
    expect((await revoke(own.token, org.name, own.token)).status).toBe(403);
    expect((await revoke(own.token, org.name, theirs.token)).status).toBe(403);
    expect((await revoke(own.token, org.name, (await tokenOf(admin.id, ["write-repos"])).token)).status).toBe(403);
    expect((await send(`/api/organizations/${org.name}/settings/tokens/revoke`, { token: own.token })).status).toBe(401);
    expect(await restrictionsOf(own.token)).toEqual([]);
    expect(Object.keys(auditEventTypes)).toContain("organization.revoke_token");
  });
});
