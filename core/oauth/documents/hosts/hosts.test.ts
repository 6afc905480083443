import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Actor, operatorCommand } from "#core/access/actor.ts";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { findClientMetadata } from "../../clients/find-client.ts";
import { addResourceServer } from "../../resources/manage-resource-servers.ts";
import { giveConsent, someone } from "../../testing/apps.ts";
import { ask, openQuestion } from "../../testing/authorization.ts";
import { refresh } from "../../testing/sign-in.ts";
import { signInAtSite, type Visit, visitSite } from "../../testing/site-visit.ts";
import { startWorld } from "../../testing/world.ts";
import { findStoredDocument } from "../find-document-client.ts";
import { forgetFetches } from "../within-fetch-limits.ts";
import { readDocumentPolicy, setDocumentPolicy } from "./document-policy.ts";
import { parseHostName } from "./host-name.ts";
import { listHostRules, previewHostBlock, removeHostRule, setHostRule } from "./host-rules.ts";
import { listClientDocuments } from "./list-client-documents.ts";

const visits: Visit[] = [];
const world = await startWorld();
beforeEach(async () => {
  forgetFetches();
  await db().oAuthClientHost.deleteMany();
  await setDocumentPolicy(operatorCommand, "open", from);
});
afterAll(async () => {
  await world.stop();
  for (const { site } of visits) await site.stop();
});

async function visit(changes: Record<string, unknown> = {}): Promise<Visit> {
  const made = await visitSite(world, { redirect_uris: [redirect_uri], ...changes });
  visits.push(made);
  return made;
}

const redirect_uri = "https://kite.example/cb";
const offline = { redirect_uri, scope: "openid profile offline_access" };
const block = (host: string) => setHostRule(operatorCommand, { host, rule: "block" }, from);
const allow = (host: string) => setHostRule(operatorCommand, { host, rule: "allow" }, from);
const isAllowed = async (host: string) => (await findStoredDocument(`https://${host}/app`)).hostDecision.isAllowed;

const becomes = (accessToken: string, status: number) =>
  vi.waitFor(async () => expect((await world.userinfo(accessToken)).status).toBe(status));

async function statusesOf(at: Visit, tokens: { access_token: string; refresh_token: string }) {
  const [userinfo, renewed] = [await world.userinfo(tokens.access_token), await refresh(at, tokens.refresh_token)];
  return [userinfo.status, renewed.status];
}

describe("S87 a host that the operator blocks", () => {
  test("can no longer sign users in, and its tokens stop working", async () => {
    const at = await visit();
    const tokens = await signInAtSite(at, offline);
    expect(await block("localhost")).toEqual({ host: "localhost", rule: "block", revokedConsents: 1 });
    await becomes(tokens.access_token, 401);
    expect(await statusesOf(at, tokens)).toEqual([401, 401]);
    const asks = at.site.connections();
    const { status, location, page } = await ask(at, { redirect_uri });
    expect([status, location]).toEqual([400, undefined]);
    expect(page).toContain("does not allow apps of localhost");
    expect(at.site.connections()).toBe(asks);
    const { clientId } = at.site;
    expect(await db().oAuthConsent.count({ where: { clientId, revokedAt: null } })).toBe(0);
    expect(await db().oAuthGrant.count({ where: { clientId, revokedAt: null } })).toBe(0);
    expect(
      await db().auditEvent.findFirst({ where: { type: "oauth_client_host.block" }, orderBy: { id: "desc" } }),
    ).toMatchObject({
      data: { host: "localhost", revokedConsents: 1 },
      ip: from.ip,
    });

    await removeHostRule(operatorCommand, "localhost", from);
    await vi.waitFor(async () => expect(await statusesOf(at, tokens)).toEqual([401, 400]));
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer).toMatchObject({ error: "consent_required" });
  });

  test("cannot be allowed by a user who is reading the page", async () => {
    const at = await visit();
    const question = await openQuestion(at, { redirect_uri });
    await block("localhost");
    await vi.waitFor(async () => expect(await findClientMetadata(at.site.clientId)).toBeUndefined());
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
  });
});

describe("the policy", () => {
  test("accepts allowed hosts if it is 'listed', no host if it is 'off', and every host if it is 'open'", async () => {
    const at = await visit();
    const tokens = await signInAtSite(at, offline);
    await setDocumentPolicy(operatorCommand, "listed", from);
    await becomes(tokens.access_token, 401);
    expect((await ask(at, { redirect_uri })).status).toBe(400);
    await allow("localhost");
    await becomes(tokens.access_token, 200);
    await setDocumentPolicy(operatorCommand, "off", from);
    await becomes(tokens.access_token, 401);
    expect((await ask(at, { redirect_uri })).page).toContain("cannot sign users in here");
    await setDocumentPolicy(operatorCommand, "open", from);
    await becomes(tokens.access_token, 200);
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer).toHaveProperty("code");
  });

  test("S104 makes tokens inactive for other services while their app is not allowed", async () => {
    const at = await visit();
    const identifier = `https://${newId()}.example.test/mcp`;
    const { clientId, secret } = await addResourceServer(operatorCommand, { identifier, name: "Team tools" }, from);
    const { access_token } = await signInAtSite(at, { redirect_uri, resource: identifier });
    const introspect = async () => {
      const answer = await world.post(
        "/oauth/introspect",
        { token: access_token },
        { authorization: world.basic(clientId, secret) },
      );
      return { status: answer.status, body: await answer.json() };
    };
    expect(await introspect()).toMatchObject({ status: 200, body: { active: true, aud: identifier } });
    await setDocumentPolicy(operatorCommand, "listed", from);
    await vi.waitFor(async () => expect(await findClientMetadata(at.site.clientId)).toBeUndefined());
    expect(await introspect()).toEqual({ status: 200, body: { active: false } });
    await setDocumentPolicy(operatorCommand, "open", from);
    expect((await introspect()).body).toMatchObject({ active: true });
  });

  test("S85 is published in both discovery documents", async () => {
    const published = () =>
      Promise.all(
        ["openid-configuration", "oauth-authorization-server"].map(async (name) => {
          const document = await (await fetch(`${world.origin}/.well-known/${name}`)).json();
          return (document as Record<string, unknown>).client_id_metadata_document_supported;
        }),
      );
    expect(await published()).toEqual([true, true]);
    await setDocumentPolicy(operatorCommand, "listed", from);
    expect(await published()).toEqual([true, true]);
    await setDocumentPolicy(operatorCommand, "off", from);
    expect(await published()).toEqual([false, false]);
  });

  test("is open by default", async () => {
    await expect(setDocumentPolicy(operatorCommand, "closed", from)).rejects.toMatchObject({ field: "policy" });
    expect(await readDocumentPolicy()).toEqual({ policy: "open", changedAt: expect.any(Date) });
    await db().setting.deleteMany({ where: { key: "client_documents" } });
    expect(await readDocumentPolicy()).toEqual({ policy: "open", changedAt: null });
  });
});

describe("rules", () => {
  test("cover subdomains, and the most specific rule decides", async () => {
    await block("example.com");
    await allow("good.example.com");
    await block("bad.good.example.com");
    const expected = {
      "example.com": false,
      "a.b.example.com": false,
      "good.example.com": true,
      "x.good.example.com": true,
      "bad.good.example.com": false,
      "x.bad.good.example.com": false,
      "notexample.com": true,
      "example.com.evil.net": true,
      com: true,
    };
    for (const [host, is] of Object.entries(expected)) expect([host, await isAllowed(host)]).toEqual([host, is]);
    await setDocumentPolicy(operatorCommand, "listed", from);
    expect(await isAllowed("x.good.example.com")).toBe(true);
    expect(await isAllowed("notexample.com")).toBe(false);
    await setDocumentPolicy(operatorCommand, "off", from);
    expect(await isAllowed("good.example.com")).toBe(false);
  });

  // S87: a certificate for the parent domain covers this host. The parent's other subdomains belong to other people.
  test("can be created for every possible host, even with an underscore", async () => {
    await block("evil_app.example.com");
    expect(await isAllowed("evil_app.example.com")).toBe(false);
    for (const host of ["evilxapp.example.com", "other.example.com"]) expect([host, await isAllowed(host)]).toEqual([host, true]);
  });

  test("are created, changed, listed and removed", async () => {
    const operator = await signedInPerson("op", { isOperator: true });
    await setHostRule(operator.actor, { host: "b.example", rule: "allow", note: " for  us " }, from);
    await setHostRule(operator.actor, { host: "b.example", rule: "block", note: "not any more" }, from);
    await allow("a.example");
    expect(await listHostRules(operator.actor)).toEqual({
      items: [
        { host: "a.example", rule: "allow", note: null, createdBy: null, createdAt: expect.any(Date) },
        { host: "b.example", rule: "block", note: "not any more", createdBy: operator.username, createdAt: expect.any(Date) },
      ],
      page: 1,
      pageSize: expect.any(Number),
      total: 2,
    });
    await removeHostRule(operator.actor, "b.example", from);
    await expect(removeHostRule(operator.actor, "b.example", from)).rejects.toMatchObject({ code: "not_found" });
    await expect(setHostRule(operator.actor, { host: "b.example", rule: "maybe" }, from)).rejects.toMatchObject({
      field: "rule",
    });
    await expect(
      setHostRule(operator.actor, { host: "b.example", rule: "allow", note: "x".repeat(301) }, from),
    ).rejects.toMatchObject({
      field: "note",
    });
  });

  test("are changed only by operators", async () => {
    const { actor } = await signedInPerson("somebody");
    const attempts: ((actor: Actor) => Promise<unknown>)[] = [
      (who) => setHostRule(who, { host: "a.example", rule: "block" }, from),
      (who) => removeHostRule(who, "a.example", from),
      (who) => setDocumentPolicy(who, "off", from),
      (who) => listHostRules(who),
      (who) => listClientDocuments(who),
    ];
    for (const attempt of attempts) await expect(attempt(actor)).rejects.toMatchObject({ code: "forbidden" });
    expect(await readDocumentPolicy()).toMatchObject({ policy: "open" });
  });

  test("S113 are changed only after a recent sign-in", async () => {
    const { actor } = await signedInPerson("configurator", { isOperator: true });
    const stale = { ...actor, authenticatedAt: new Date(Date.now() - 24 * 3600_000) };
    const changes: ((actor: Actor) => Promise<unknown>)[] = [
      (who) => setHostRule(who, { host: "a.example", rule: "block" }, from),
      (who) => removeHostRule(who, "a.example", from),
      (who) => setDocumentPolicy(who, "off", from),
    ];
    for (const change of changes) await expect(change(stale)).rejects.toMatchObject({ code: "reauthentication_required" });
    await listHostRules(stale);
    await listClientDocuments(stale);
    expect(await readDocumentPolicy()).toMatchObject({ policy: "open" });
  });

  test.each([
    ["example.com", "example.com"],
    [" Example.COM. ", "example.com"],
    ["*.example.com", "example.com"],
    ["https://app.example.com/.well-known/oauth-cimd", "app.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["127.0.0.1", "127.0.0.1"],
    ["[::1]", "[::1]"],
    ["localhost", "localhost"],
  ])("%j is parsed as %s", (typed, host) => {
    expect(parseHostName(typed)).toBe(host);
  });

  test.each([
    "",
    " ",
    "a b",
    "example.com:8443",
    "https://example.com:8443/x",
    "user@example.com",
    "a..b",
    "*",
    "a!b.example",
    "\0",
    7,
  ])("%j is not a host", (typed) => {
    expect(() => parseHostName(typed)).toThrow(expect.objectContaining({ code: "invalid_request", field: "host" }));
  });
});

describe("the list of documents", () => {
  test("shows names, hosts, users and the rule that applies", async () => {
    await db().oAuthClientDocument.deleteMany();
    const at = await visit({ client_name: "100% Kites_", client_uri: "https://kite.example/" });
    await signInAtSite(at, offline);
    const other = await visit({ client_name: "Sparrow" });
    await ask(other, { redirect_uri });
    await allow("localhost");
    const find = async (search: string) =>
      (await listClientDocuments(operatorCommand, { search })).items.map(({ name }) => name).sort();
    expect(await find("")).toEqual(["100% Kites_", "Sparrow"]);
    expect(await find("KITE")).toEqual(["100% Kites_"]);
    expect(await find(at.site.host.toUpperCase())).toEqual(["100% Kites_"]);
    expect(await find("%")).toEqual(["100% Kites_"]);
    expect(await find("s_")).toEqual(["100% Kites_"]);
    expect(await find("\\")).toEqual([]);
    await expect(find("\0")).rejects.toMatchObject({ code: "invalid_request" });

    const { items, total } = await listClientDocuments(operatorCommand, { page: 2, pageSize: 1 });
    expect([items.length, total]).toEqual([1, 2]);
    expect(items[0]).toEqual({
      clientId: at.site.clientId,
      host: at.site.host,
      hostname: "localhost",
      name: "100% Kites_",
      logoId: null,
      homepageUrl: "https://kite.example/",
      firstSeenAt: expect.any(Date),
      lastSeenAt: expect.any(Date),
      changedAt: null,
      userCount: 1,
      hostDecision: { isAllowed: true, rule: { host: "localhost", rule: "allow" }, policy: "open" },
    });
  });
});

async function seen(host: string, path = "/.well-known/oauth-cimd"): Promise<string> {
  const clientId = `https://${host}${path}`;
  const metadata = { client_id: clientId, client_name: `App of ${host}`, redirect_uris: [`https://${host}/cb`] };
  await db().oAuthClientDocument.create({
    data: { clientId, host, metadata, fetchedAt: new Date(), freshUntil: new Date() },
  });
  return clientId;
}

test("S87 the preview of a block shows exactly what the block ends", async () => {
  const operator = await someone({ isOperator: true });
  const domain = `d${newId()}.example`;
  const [own, below, trusted, lookAlike] = [
    await seen(domain),
    await seen(`a.${domain}:8443`),
    await seen(`trusted.${domain}`),
    await seen(`not${domain}`),
  ];
  const elsewhere = await seen(`other${domain}`, `/${domain}`);
  await setHostRule(operator, { host: `trusted.${domain}`, rule: "allow" }, noOrigin);
  const [one, two] = [await someone(), await someone()];
  for (const clientId of [own, below, trusted, lookAlike, elsewhere]) await giveConsent(clientId, one);
  await giveConsent(own, two);

  const preview = await previewHostBlock(operator, `HTTPS://${domain.toUpperCase()}/somewhere`);
  expect(preview).toMatchObject({ host: domain, userCount: 2 });
  expect(preview.clients.map(({ clientId }) => clientId).sort()).toEqual([own, below].sort());
  expect(preview.clients[0]?.name).toMatch(/^App of/);

  const live = async () => (await db().oAuthConsent.findMany({ where: { revokedAt: null } })).map(({ clientId }) => clientId);
  expect(await live()).toEqual(expect.arrayContaining([own, below]));
  expect(await setHostRule(operator, { host: domain, rule: "block" }, noOrigin)).toMatchObject({ revokedConsents: 3 });
  expect(await live()).toEqual(expect.arrayContaining([trusted, lookAlike, elsewhere]));
  expect(await live()).not.toEqual(expect.arrayContaining([own]));
  expect(await live()).not.toEqual(expect.arrayContaining([below]));
});

test("the preview for a host without documents is empty", async () => {
  const operator = await someone({ isOperator: true });
  expect(await previewHostBlock(operator, `${newId()}.example`)).toMatchObject({ clients: [], userCount: 0 });
  await expect(previewHostBlock(operator, "no host")).rejects.toMatchObject({ code: "invalid_request", field: "host" });
  await expect(previewHostBlock(await someone(), "a.example")).rejects.toMatchObject({ code: "forbidden" });
});
