import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { addressKey } from "#core/accounts/address-key.ts";
import { presets } from "#core/accounts/publishers/presets.ts";
import { organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { ENTRIES_IN_ALL, ENTRIES_OF_SOURCE, throttleCount, throttleKey } from "#core/accounts/throttle.ts";
import { findCiToken } from "#core/accounts/tokens/find-ci-token.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { LONG_HOST } from "#core/http/testing/long-host.ts";
import { newId } from "#core/ids.ts";
import { endByHash } from "../leaks/revoke-leaked-credentials.ts";
import { type CiIssuer, startCiIssuer } from "../testing/ci-issuer.ts";
import { startWorld, type World } from "../testing/world.ts";
import { answerCiExchange } from "./answer-ci-exchange.ts";
import { HOURLY_EXCHANGES_OF_PUBLISHER, HOURLY_EXCHANGES_OF_USER } from "./exchange-id-token.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

describe("the exchange of a CI job's ID token", () => {
  let world: World;
  let ci: CiIssuer;
  let ada: TestPerson;
  let repo: { id: string; name: string };
  let org: { id: string; name: string };
  let publisherId: string;
  const claims = { repository: "octo/kite", ref: "refs/heads/main" };

  beforeAll(async () => {
    world = await startWorld();
    ci = await startCiIssuer();
    ada = await signedInPerson();
    org = await organizationOf(ada);
    repo = await privateRepo("tide");
    publisherId = await trust({ repoId: repo.id });
  });
  afterAll(async () => {
    await ci.stop();
    await world.stop();
  });

  async function privateRepo(stem: string) {
    const [id, name] = [newId(), `${stem}-${newId().slice(-6)}`];
    await db().repo.create({
      data: { id, type: "model", ownerId: org.id, ownerKind: "organization", name, nameCanonical: name, isPrivate: true },
    });
    return { id, name: `${org.name}/${name}` };
  }

  async function trust(
    subject: { repoId: string } | { userId: string },
    changes: { preset?: string; issuer?: string; claims?: Record<string, string> } = {},
  ): Promise<string> {
    const id = newId();
    await db().trustedPublisher.create({ data: { id, preset: "oidc", issuer: ci.issuer, claims, ...subject, ...changes } });
    return id;
  }

  async function exchange(subjectToken: string | undefined, changes: Record<string, unknown> = {}) {
    const fields = {
      grant_type: GRANT,
      subject_token_type: ID_TOKEN,
      subject_token: subjectToken,
      resource: repo.name,
      ...changes,
    };
    const response = await fetch(`${world.origin}/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fields),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return {
      status: response.status,
      body,
      error: body.error,
      description: String(body.error_description),
      headers: response.headers,
    };
  }

  const refusals = () => db().auditEvent.findMany({ where: { orgId: org.id, type: "ci_token.exchange_refused" } });

  test("accepts JSON and a form, and records the use and the exchange", async () => {
    const { status, body, headers } = await exchange(await ci.sign(claims));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^kh_jwt_[\w-]{43}$/),
        token_type: "bearer",
        expires_in: 3600,
        issued_token_type: ACCESS_TOKEN,
      },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    const token = String(body.access_token);
    expect(await findCiToken(token)).toMatchObject({ publisherId, repo: { id: repo.id, fullName: repo.name }, user: null });
    // S99: the row decides when the token ends, not the response.
    const { createdAt, expiresAt } = await db().ciToken.findUniqueOrThrow({ where: { tokenHash: hashToken(token) } });
    const seconds = (expiresAt.getTime() - createdAt.getTime()) / 1000;
    expect(seconds).toBeGreaterThan(59 * 60);
    expect(seconds).toBeLessThanOrEqual(60 * 60 + 1);
    expect(JSON.stringify(await db().ciToken.findMany())).not.toContain(token.slice(7));
    const [used] = await db().trustedPublisher.findMany({ where: { id: publisherId } });
    expect(Date.now() - (used?.lastUsedAt?.getTime() ?? 0)).toBeLessThan(10_000);
    const [event] = await db().auditEvent.findMany({ where: { orgId: org.id, type: "ci_token.exchange" } });
    expect(event).toMatchObject({ actorId: null, ip: "127.0.0.1", data: { repo: repo.name, publisherId, issuer: ci.issuer } });
    expect(JSON.stringify(event)).not.toContain(token);

    const form = { grant_type: GRANT, subject_token_type: ID_TOKEN, subject_token: await ci.sign(claims), resource: repo.name };
    expect((await world.post("/oauth/token", form)).status).toBe(200);
  });

  test("a token for a user has the scope gated-repos and ends with the account", async () => {
    const reader = await signedInPerson("grace");
    await trust({ userId: reader.id });
    const { status, body } = await exchange(await ci.sign(claims), { resource: reader.username });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { access_token: expect.stringMatching(/^kh_oauth_[\w-]{43}$/), scope: "gated-repos", expires_in: 3600 },
    });
    expect((await exchange(await ci.sign(claims), { resource: reader.username, scope: "write-repos" })).error).toBe(
      "invalid_scope",
    );
    await db().user.update({ where: { id: reader.id }, data: { disabledAt: new Date() } });
    expect(await findCiToken(String(body.access_token))).toBeUndefined();
    expect((await exchange(await ci.sign(claims), { resource: reader.username })).error).toBe("invalid_grant");
  });

  test("S99 with a malformed or missing parameter fails with an invalid_request that names the parameter", async () => {
    const cases: [string, Record<string, unknown>][] = [
      ["subject_token_type", { subject_token_type: undefined }],
      ["subject_token", { subject_token: undefined }],
      ["subject_token", { subject_token: "a token" }],
      ["subject_token", { subject_token: "W10.W10.x" }],
      ["subject_token", { subject_token: `${"a".repeat(20_000)}.b.c` }],
      ["resource", { resource: undefined }],
      ["resource", { resource: "" }],
      ["resource", { resource: "datasets/tide" }],
      ["resource", { resource: "a/b/c/d" }],
      ["resource", { resource: "/octo/kite" }],
      ["resource", { resource: "octo/ki te" }],
      ["resource", { resource: `${"a".repeat(400)}/b` }],
      ["kernels", { resource: "kernels/octo/kite" }],
      ["buckets", { resource: "buckets/octo" }],
      ["requested_token_type", { requested_token_type: ID_TOKEN }],
      ["actor_token", { actor_token: "x", actor_token_type: ID_TOKEN }],
    ];
    for (const [word, changes] of cases) {
      const { status, error, description } = await exchange(await ci.sign(claims), changes);
      expect([changes, status, error]).toEqual([changes, 400, "invalid_request"]);
      expect(description).toContain(word);
    }
    const twice = new URLSearchParams({ grant_type: GRANT, subject_token_type: ID_TOKEN, subject_token: await ci.sign(claims) });
    for (const resource of [repo.name, "other/one"]) twice.append("resource", resource);
    expect((await world.post("/oauth/token", twice.toString())).status).toBe(400);
  });

  test("S98 fails for a token with another audience, outside of its time, or with an invalid signature", async () => {
    const now = Math.floor(Date.now() / 1000);
    const stranger = await ci.newKey("RS256");
    const tokens: Record<string, [string, RegExp]> = {
      "another audience": [await ci.sign({ ...claims, aud: "https://else.example" }), /audience/],
      "a longer audience": [await ci.sign({ ...claims, aud: `${world.origin}/` }), /audience/],
      "several audiences": [await ci.sign({ ...claims, aud: [world.origin, "https://else.example"] }), /audience/],
      "no audience": [await ci.sign({ ...claims, aud: undefined }), /audience/],
      expired: [await ci.sign({ ...claims, iat: now - 600, exp: now - 61 }), /expired/],
      "no expiry": [await ci.sign({ ...claims, exp: undefined }), /exp/],
      "from the future": [await ci.sign({ ...claims, iat: now + 90 }), /future/],
      "not valid yet": [await ci.sign({ ...claims, nbf: now + 90 }), /nbf/],
      "very old": [await ci.sign({ ...claims, iat: now - 25 * 3600 }), /older/],
      "alg none": [ci.unsigned(claims), /none/],
      "HS256 with the public key": [await ci.hmacSigned(claims), /HS256/],
      "another issuer": [await ci.sign({ ...claims, iss: "https://else.example" }), /no trusted publisher/],
      "an issuer that begins alike": [await ci.sign({ ...claims, iss: `${ci.issuer}/` }), /no trusted publisher/],
      "a stranger's key": [await ci.sign(claims, stranger), /no trusted publisher/],
      "a stranger's signature under the ID of the issuer's key": [
        (await ci.sign(claims)).replace(/[^.]+$/, (await ci.sign(claims, stranger)).split(".")[2] ?? ""),
        /no trusted publisher/,
      ],
      "changed claims": [
        (await ci.sign(claims)).replace(/\.[^.]+\./, `.${(await ci.sign({ ...claims, ref: "x" })).split(".")[1]}.`),
        /no trusted publisher/,
      ],
    };
    const before = (await refusals()).length;
    await Promise.all(
      Object.entries(tokens).map(async ([what, [token, words]]) => {
        const answer = await exchange(token);
        expect([what, answer.status, answer.error]).toEqual([what, 400, "invalid_grant"]);
        expect([what, answer.description]).toEqual([what, expect.stringMatching(words)]);
      }),
    );
    expect((await refusals()).length - before).toBe(Object.keys(tokens).length);
    expect((await exchange(await ci.sign({ ...claims, exp: 1e300 }))).status).toBe(200);
    for (const aud of [world.origin, [world.origin]])
      expect((await exchange(await ci.sign({ ...claims, aud }))).status).toBe(200);
    expect((await exchange(await ci.sign({ ...claims, iat: now + 30, nbf: now + 30 }))).status).toBe(200);
  });

  test("S98 requires every claim to be equal, and shows the repository's managers which one differs", async () => {
    const wanted = { project_id: "22", ref_protected: "true", environment: "release" };
    const other = await privateRepo("kite");
    const id = await trust({ repoId: other.id }, { claims: wanted });
    const good = { project_id: 22, ref_protected: true, environment: "release" };
    for (const [name, value] of [
      ["environment", "Release"],
      ["environment", undefined],
      ["environment", ["release"]],
      ["environment", { release: true }],
      ["project_id", 22.5],
      ["project_id", "022"],
      ["ref_protected", 1],
      ["ref_protected", null],
    ] as const) {
      const { status, error, description } = await exchange(await ci.sign({ ...good, [name]: value }), { resource: other.name });
      expect([name, value, status, error]).toEqual([name, value, 400, "invalid_grant"]);
      expect(description).toContain(`project_id ${typeof value === "number" || name === "project_id" ? "" : "22"}`);
      const row = await db().trustedPublisher.findUniqueOrThrow({ where: { id } });
      expect(row.lastRefusal).toContain(`the claim ${name} is`);
    }
    expect((await exchange(await ci.sign(good), { resource: other.name })).status).toBe(200);
    expect((await db().trustedPublisher.findUniqueOrThrow({ where: { id } })).lastRefusal).toBeNull();
  });

  test("S136 gives the same response for every resource without trust, even a missing one", async () => {
    const untrusting = await privateRepo("wave");
    const otherwise = await privateRepo("reef");
    await trust({ repoId: otherwise.id }, { claims: { repository: "somebody/else" } });
    const names = [
      untrusting.name,
      otherwise.name,
      `${org.name}/none-such`,
      `nobody-${newId()}/x`,
      ada.username,
      `nobody-${newId()}`,
    ];
    const token = await ci.sign(claims);
    const answers = await Promise.all(names.map((resource) => exchange(token, { resource })));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    const late = await ci.sign({ ...claims, exp: 1 });
    const expired = await Promise.all(names.map((resource) => exchange(late, { resource })));
    expect(new Set(expired.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test("S136 asks an issuer for new keys even if the resource does not exist", async () => {
    const slow = await startCiIssuer();
    const hidden = await privateRepo("reef");
    await trust({ repoId: hidden.id }, { issuer: slow.issuer });
    const now = Date.now();
    const clock = vi.spyOn(Date, "now");
    const asked: number[] = [];
    for (const [at, resource] of [hidden.name, `${org.name}/none-such`, repo.name, `nobody-${newId()}`].entries()) {
      // Each request comes after the pause between two fetches, with an unknown key.
      clock.mockImplementation(() => now + at * 6_000);
      const before = slow.asked.length;
      const made = await slow.sign(claims, await slow.newKey("RS256"));
      expect((await exchange(made, { resource })).error).toBe("invalid_grant");
      asked.push(slow.asked.length - before);
    }
    clock.mockRestore();
    expect(asked.every((count) => count > 0)).toBe(true);
    await slow.stop();
  });

  test("S99 of one token succeeds once, even if it is sent several times in parallel", async () => {
    for (const token of [await ci.sign(claims), await ci.sign({ ...claims, jti: undefined })]) {
      const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(token)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status === 400);
      expect(refused).toHaveLength(11);
      expect(refused.every(({ error, description }) => error === "invalid_grant" && /already used/.test(description))).toBe(true);
    }
    const token = await ci.sign(claims);
    const other = await privateRepo("surf");
    await trust({ repoId: other.id });
    expect((await exchange(token)).status).toBe(200);
    expect((await exchange(token, { resource: other.name })).status).toBe(400);
  });

  test("S100 fails for a repository that has taken over the name of another", async () => {
    const github = await privateRepo("port");
    const id = await trust({ repoId: github.id }, { preset: "github" });
    const first = { ...claims, repository_id: "74", repository_owner_id: "65" };
    const resource = github.name;
    expect((await exchange(await ci.sign(first), { resource })).status).toBe(200);
    expect((await db().trustedPublisher.findUniqueOrThrow({ where: { id } })).pinned).toEqual({
      repository_id: "74",
      repository_owner_id: "65",
    });
    for (const changes of [{ repository_id: "75" }, { repository_owner_id: "66" }, { repository_id: undefined }]) {
      const { error } = await exchange(await ci.sign({ ...first, ...changes }), { resource });
      expect(error).toBe("invalid_grant");
      const { lastRefusal } = await db().trustedPublisher.findUniqueOrThrow({ where: { id } });
      expect(lastRefusal).toContain("recorded with the first run");
    }
    expect((await exchange(await ci.sign(first), { resource })).status).toBe(200);

    const race = await privateRepo("pier");
    const raced = await trust({ repoId: race.id }, { preset: "github" });
    const ids = ["1", "2", "3", "4", "5", "6"];
    const tokens = await Promise.all(ids.map((one) => ci.sign({ ...first, repository_id: one })));
    const answers = await Promise.all(tokens.map((token) => exchange(token, { resource: race.name })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { pinned } = await db().trustedPublisher.findUniqueOrThrow({ where: { id: raced } });
    expect(pinned).toMatchObject({ repository_id: ids[answers.findIndex(({ status }) => status === 200)] });
  });

  test("S98 does not record a claim that cannot be stored", async () => {
    const quay = await privateRepo("quay");
    const id = await trust({ repoId: quay.id }, { preset: "gitlab" });
    const pinned = async () => (await db().trustedPublisher.findUniqueOrThrow({ where: { id } })).pinned;
    for (const project_id of ["7\0", "\ud800"])
      expect((await exchange(await ci.sign({ ...claims, project_id }), { resource: quay.name })).status).toBe(200);
    expect(await pinned()).toEqual({});
    expect((await exchange(await ci.sign({ ...claims, project_id: "7" }), { resource: quay.name })).status).toBe(200);
    expect((await exchange(await ci.sign({ ...claims, project_id: "7\0" }), { resource: quay.name })).error).toBe(
      "invalid_grant",
    );
    const now = Math.floor(Date.now() / 1000);
    const deep = `{"iss":"x","aud":"${world.origin}","iat":${now},"exp":${now + 60},"sub":${"[".repeat(5_500)}${"]".repeat(5_500)}}`;
    const unsigned = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.${Buffer.from(deep).toString("base64url")}.x`;
    expect((await exchange(unsigned, { resource: quay.name })).description).toContain("sub a value that is nested too deeply");
    const open = await privateRepo("open");
    await trust({ repoId: open.id }, { claims: {} });
    expect((await exchange(await ci.sign(claims), { resource: open.name })).error).toBe("invalid_grant");
    const values = { issuer: "https://ci.example.com", claims: "__proto__ = x" };
    expect(() => presets.oidc.read(values)).toThrow("cannot be a claim's name");
  });

  test("S98 finds new keys at once, refuses removed keys, and limits the fetches", async () => {
    const rotating = await startCiIssuer("/team");
    const other = await privateRepo("mast");
    await trust({ repoId: other.id }, { issuer: rotating.issuer });
    const ask = async (token: string) => (await exchange(token, { resource: other.name })).status;
    const keysAsked = () => rotating.asked.filter((path) => path.endsWith("/keys")).length;
    expect(await Promise.all(await Promise.all(Array.from({ length: 8 }, async () => ask(await rotating.sign(claims)))))).toEqual(
      Array(8).fill(200),
    );
    expect(keysAsked()).toBe(1);
    const old = await rotating.sign(claims);
    await rotating.rotate("ES256");
    const fresh = [await rotating.sign(claims), await rotating.sign(claims)] as const;
    expect(await ask(fresh[0])).toBe(400);
    expect(keysAsked()).toBe(1);
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 6_000);
    expect(await ask(fresh[1])).toBe(200);
    expect(await ask(old)).toBe(400);
    expect(keysAsked()).toBe(2);
    clock.mockRestore();
    await rotating.stop();
  });

  test("S137 ignores a key that is slow to verify with", async () => {
    const costly = await startCiIssuer();
    const other = await privateRepo("tern");
    await trust({ repoId: other.id }, { issuer: costly.issuer });
    await costly.rotate("RS256", 4_104);
    const answer = await exchange(await costly.sign(claims), { resource: other.name });
    expect(answer).toMatchObject({ status: 400, error: "invalid_grant" });
    await costly.stop();
  });

  test("S98 fails if the issuer redirects, floods, hangs, has another name, or has an internal address", async () => {
    const bad = await startCiIssuer();
    const other = await privateRepo("gull");
    const trusting = async (issuer: string) => {
      await db().trustedPublisher.deleteMany({ where: { repoId: other.id } });
      return trust({ repoId: other.id }, { issuer });
    };
    const body = (value: unknown) => (res: import("node:http").ServerResponse) => res.writeHead(200).end(JSON.stringify(value));
    const cases: [string, "discovery" | "keys", Parameters<CiIssuer["answerWith"]>[1], RegExp][] = [
      ["a redirect", "keys", (res) => res.writeHead(302, { location: `${ci.origin}/keys` }).end(), /responded with status 302/],
      ["a flood", "keys", (res) => res.writeHead(200).end(`{"keys":[],"x":"${"x".repeat(300_000)}"}`), /longer than/],
      [
        "the name of another issuer",
        "discovery",
        body({ issuer: "https://else.example", jwks_uri: `${bad.issuer}/keys` }),
        /another issuer/,
      ],
      ["keys by http", "discovery", body({ issuer: bad.issuer, jwks_uri: "http://localhost/keys" }), /https jwks_uri/],
      [
        "keys at a long host name",
        "discovery",
        body({ issuer: bad.issuer, jwks_uri: `https://${LONG_HOST}/keys` }),
        /https jwks_uri/,
      ],
      [
        "an internal address",
        "discovery",
        body({ issuer: bad.issuer, jwks_uri: "https://169.254.169.254/keys" }),
        /not on the public/,
      ],
      ["no keys", "keys", body({ keys: "none" }), /is invalid/],
      ["no JSON", "keys", (res) => res.writeHead(200).end("<html>"), /not a JSON object/],
    ];
    let clock = Date.now();
    const later = vi.spyOn(Date, "now").mockImplementation(() => clock);
    for (const [what, which, answer, words] of cases) {
      const id = await trusting(bad.issuer);
      bad.answerWith(which, answer);
      clock += 6_000;
      const { status, error } = await exchange(await bad.sign(claims), { resource: other.name });
      expect([what, status, error]).toEqual([what, 400, "invalid_grant"]);
      const { lastRefusal } = await db().trustedPublisher.findUniqueOrThrow({ where: { id } });
      expect([what, lastRefusal]).toEqual([what, expect.stringMatching(words)]);
    }
    bad.answerWith("keys", () => undefined);
    clock += 6_000;
    expect((await exchange(await bad.sign(claims), { resource: other.name })).error).toBe("invalid_grant");
    bad.heal();
    expect((await exchange(await bad.sign(claims), { resource: other.name })).error).toBe("invalid_grant");
    clock += 6_000;
    expect((await exchange(await bad.sign(claims), { resource: other.name })).status).toBe(200);
    later.mockRestore();
    await bad.stop();
  });

  test("S116 writes a limited number of refusals into the log of the repository's managers", async () => {
    const other = await privateRepo("flood");
    const junk = await ci.sign({ ...claims, aud: "https://else.example" });
    const answers = await Promise.all(Array.from({ length: 80 }, () => exchange(junk, { resource: other.name })));
    expect(answers.every(({ error }) => error === "invalid_grant" || error === "temporarily_unavailable")).toBe(true);
    const noted = await refusals();
    expect(noted.filter(({ data }) => (data as { repo?: string }).repo === other.name)).toHaveLength(60);
  });

  test("S144 records a limited number of refusals for an address and in total", async () => {
    const junk = await ci.sign({ ...claims, aud: "https://else.example" });
    const refuse = async () => {
      const [other, before] = [await privateRepo("fill"), (await refusals()).length];
      expect((await exchange(junk, { resource: other.name })).error).toBe("invalid_grant");
      return (await refusals()).length - before;
    };
    expect(await refuse()).toBe(1);
    for (const [key, { limit }] of [
      [throttleKey("ci_refusal_unproven-source", "127.0.0.1"), ENTRIES_OF_SOURCE],
      [throttleKey("ci_refusal_unproven-all", ""), ENTRIES_IN_ALL],
    ] as const) {
      const { count } = await db().throttle.findUniqueOrThrow({ where: { key } });
      await db().throttle.update({ where: { key }, data: { count: limit } });
      expect(await refuse()).toBe(0);
      await db().throttle.update({ where: { key }, data: { count } });
    }
    expect(await refuse()).toBe(1);
    const other = await privateRepo("told");
    const id = await trust({ repoId: other.id });
    await exchange(await ci.sign({ ...claims, ref: "refs/heads/first" }), { resource: other.name });
    await db().throttle.update({ where: { key: throttleKey("ci_refusal-all", "") }, data: { count: ENTRIES_IN_ALL.limit } });
    await exchange(await ci.sign({ ...claims, ref: "refs/heads/second" }), { resource: other.name });
    await db().throttle.deleteMany({ where: { key: throttleKey("ci_refusal-all", "") } });
    expect((await db().trustedPublisher.findUniqueOrThrow({ where: { id } })).lastRefusal).toContain("refs/heads/second");
    const noted = (await refusals()).filter(({ data }) => (data as { repo?: string }).repo === other.name);
    expect(noted).toHaveLength(1);
  });

  test("S56 counts an IPv6 client by its /64", async () => {
    const [req, res] = [{ headers: {} } as IncomingMessage, {} as ServerResponse];
    const token = await ci.sign({ ...claims, ref: "refs/heads/another" });
    const form = new URLSearchParams({
      grant_type: GRANT,
      subject_token_type: ID_TOKEN,
      subject_token: token,
      resource: repo.name,
    });
    const key = throttleKey("ci_exchange", addressKey("2001:db8:5:5::1") ?? "");
    await db().throttle.create({ data: { key, count: 299, resetAt: new Date(Date.now() + 60_000) } });
    const from = (ip: string) => answerCiExchange(req, res, form, ip);
    await expect(from("2001:db8:5:5::2")).rejects.toMatchObject({ status: 400 });
    await expect(from("2001:db8:5:5:ffff::3")).rejects.toMatchObject({ status: 429 });
    await expect(from("2001:db8:5:6::1")).rejects.toMatchObject({ status: 400 });
    await db().throttle.updateMany({ where: { key: throttleKey("ci_exchange", "2001:db8:5::/48") }, data: { count: 3_000 } });
    await expect(from("2001:db8:5:7::1")).rejects.toMatchObject({ status: 429 });
  });

  test("S56 counts only failed exchanges against the address", async () => {
    const key = throttleKey("ci_exchange", "127.0.0.1");
    await db().throttle.upsert({
      where: { key },
      create: { key, count: 299, resetAt: new Date(Date.now() + 60_000) },
      update: { count: 299 },
    });
    for (let run = 0; run < 3; run++) expect((await exchange(await ci.sign(claims))).status).toBe(200);
    expect((await exchange(await ci.sign({ ...claims, ref: "refs/heads/another" }))).status).toBe(400);
    expect((await exchange(await ci.sign(claims))).status).toBe(429);
    await db().throttle.deleteMany({ where: { key } });
  });

  test("S144 records refusals as unproven while the issuer is unreachable", async () => {
    const away = await startCiIssuer();
    const other = await privateRepo("away");
    const id = await trust({ repoId: other.id }, { issuer: away.issuer });
    away.answerWith("discovery", (res) => res.writeHead(503).end());
    expect((await exchange(await away.sign(claims), { resource: other.name })).status).toBe(400);
    expect((await db().trustedPublisher.findUniqueOrThrow({ where: { id } })).lastRefusal).toContain("status 503");
    expect(await throttleCount(throttleKey("ci_refusal", other.id))).toBe(0);
    expect(await throttleCount(throttleKey("ci_refusal_unproven", other.id))).toBe(1);
    await away.stop();
  });

  test("S144 has an hourly limit for all publishers of one user together", async () => {
    const other = await privateRepo("fill");
    const ids = await Promise.all([repo.id, other.id].map((repoId) => trust({ repoId }, { claims: { ref: "refs/heads/much" } })));
    await db().trustedPublisher.updateMany({ where: { id: { in: ids } }, data: { createdById: ada.id } });
    const use = (key: string, count: number) =>
      db().throttle.upsert({ where: { key }, create: { key, count, resetAt: new Date(Date.now() + 60_000) }, update: { count } });
    const statuses = async () => {
      const found = [];
      for (const resource of [repo.name, other.name])
        found.push((await exchange(await ci.sign({ ref: "refs/heads/much" }), { resource })).status);
      return found;
    };
    await use(throttleKey("ci_exchange_truster", ada.id), HOURLY_EXCHANGES_OF_USER.limit - 1);
    expect(await statuses()).toEqual([200, 429]);
    await use(throttleKey("ci_exchange_truster", ada.id), HOURLY_EXCHANGES_OF_USER.limit - 2);
    await use(throttleKey("ci_exchange_publisher_hour", ids[0] as string), HOURLY_EXCHANGES_OF_PUBLISHER.limit);
    expect(await statuses()).toEqual([429, 200]);
    await db().trustedPublisher.deleteMany({ where: { id: { in: ids } } });
  });

  test("S98 never contacts an issuer that nobody trusts", async () => {
    const stranger = await startCiIssuer();
    expect((await exchange(await stranger.sign(claims))).error).toBe("invalid_grant");
    expect((await exchange(await stranger.sign(claims), { resource: "no/such" })).error).toBe("invalid_grant");
    expect(stranger.connections()).toBe(0);
    await stranger.stop();
  });

  test("S99 gives a token that ends after an hour, or with its publisher or repository", async () => {
    const other = await privateRepo("knot");
    const id = await trust({ repoId: other.id });
    const get = async () => String((await exchange(await ci.sign(claims), { resource: other.name })).body.access_token);
    const [revoked, expired, orphan] = [await get(), await get(), await get()];
    const end = () => db().$transaction((tx) => endByHash(tx, [hashToken(revoked)]));
    expect(await end()).toMatchObject([{ kind: "ci", orgId: org.id, userId: null }]);
    expect(await end()).toEqual([]);
    expect(await findCiToken(revoked)).toBeUndefined();
    await db().ciToken.updateMany({
      where: { tokenHash: hashToken(expired) },
      data: { expiresAt: new Date(Date.now() - 60_000) },
    });
    expect(await findCiToken(expired)).toBeUndefined();
    expect(await findCiToken(orphan)).toBeDefined();
    await db().trustedPublisher.delete({ where: { id } });
    expect(await findCiToken(orphan)).toBeUndefined();
  });
});
