import { randomUUID } from "node:crypto";
import { eventPayloadSchema } from "@keyhook/sdk";
import { CloudEvent, HTTP, type Message } from "cloudevents";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { freshName, from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { createPlatform, revokePlatform, rotatePlatformToken } from "#core/hub/platforms/manage-platforms.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const sha = (digit: string) => digit.repeat(40);
type Prepared = { platform: Awaited<ReturnType<typeof createPlatform>>; ada: TestPerson };

async function somePlatform(): Promise<Prepared["platform"]> {
  const name = freshName("forge");
  return createPlatform(operatorCommand, { name, source: `https://${name}.example` }, from);
}

async function prepare(): Promise<Prepared> {
  return { platform: await somePlatform(), ada: await signedInPerson() };
}

async function post(path: string, token: string, { headers, body }: { headers: Record<string, unknown>; body: unknown }) {
  const response = await fetch(world.origin + path, {
    method: "POST",
    headers: { ...(headers as Record<string, string>), authorization: `Bearer ${token}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const json = { "content-type": "application/json" };
const sync = ({ platform }: Prepared, repos: unknown[], options = {}) =>
  post("/api/repos/sync", platform.token, { headers: json, body: { repos, ...options } });

const reported = ({ ada }: Prepared, changes: Record<string, unknown> = {}) => ({
  type: "dataset",
  name: `${ada.username}/tides`,
  id: 7,
  private: false,
  url: "https://forge.example/ada/tides",
  ...changes,
});

const statuses = ({ body }: { body: { results?: { status: string }[] } }) => body.results?.map(({ status }) => status);

const pushed = ({ platform }: Prepared, changes: Record<string, unknown> = {}) =>
  new CloudEvent({
    id: randomUUID(),
    source: `${platform.source}/ada/tides`,
    type: "com.example.forge.repo.content.update",
    data: {
      repo: { externalId: "7" },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: sha("0"), newSha: sha("a") }],
    },
    ...changes,
  });

const send = ({ platform }: Prepared, message: Message) =>
  post("/api/events", platform.token, { headers: message.headers, body: message.body as string });
const structured = (at: Prepared, event: CloudEvent<unknown>) => send(at, HTTP.structured(event) as Message);
const binary = (at: Prepared, event: CloudEvent<unknown>) => send(at, HTTP.binary(event) as Message);
const batch = ({ platform }: Prepared, events: unknown[]) =>
  post("/api/events", platform.token, { headers: { "content-type": "application/cloudevents-batch+json" }, body: events });

const recordedOf = (platform: { source: string }) =>
  db().event.findMany({
    where: { source: { startsWith: platform.source } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });

const rowOf = ({ platform }: Prepared, externalId = "7") =>
  db().repo.findUnique({ where: { platformId_externalId: { platformId: platform.id, externalId } } });

async function watchStatements() {
  const client = await pool().connect();
  client.release();
  return vi.spyOn(Object.getPrototypeOf(client), "query");
}

describe("POST /api/repos/sync", () => {
  test("creates, changes, moves and deletes repositories, and changes nothing if the list is sent again", async () => {
    const at = await prepare();
    const { ada } = at;
    expect(await sync(at, [reported(at)])).toMatchObject({ status: 200, body: { results: [{ id: "7", status: "created" }] } });
    expect(statuses(await sync(at, [reported(at)]))).toEqual(["unchanged"]);
    expect(await rowOf(at)).toMatchObject({ ownerId: ada.id, name: "tides", isPrivate: false, hasDiscussions: false });
    const changes = { private: true, headSha: sha("b"), tags: ["sea"], description: "Of the sea", defaultBranch: "trunk" };
    expect(statuses(await sync(at, [reported(at, changes)]))).toEqual(["updated"]);
    const more = { isPrivate: true, headSha: sha("b"), tags: ["sea"], description: "Of the sea", defaultBranch: "trunk" };
    expect(await rowOf(at)).toMatchObject(more);
    expect(statuses(await sync(at, [reported(at, { private: true })]))).toEqual(["unchanged"]);
    expect(statuses(await sync(at, [reported(at, { private: true, name: `${ada.username.toUpperCase()}/Moons` })]))).toEqual([
      "moved",
    ]);
    const page = await fetch(`${world.origin}/api/datasets/${ada.username}/moons`);
    expect(page.status).toBe(404);
    expect(await rowOf(at)).toMatchObject({ name: "Moons", nameCanonical: "moons", isPrivate: true });
    const rest = await sync(at, [reported(at, { id: "8", name: `${ada.username}/tides` })], { complete: true });
    expect(rest.body.results).toEqual([
      { id: "8", status: "created" },
      { id: "7", status: "deleted" },
    ]);
    expect(await rowOf(at)).toBeNull();
    expect(await recordedOf(at.platform)).toEqual([]);
    expect(await db().event.count({ where: { ownerId: ada.id } })).toBe(0);
  });

  test("the result of a refused repository has the reason, and all other repositories are synchronized", async () => {
    const at = await prepare();
    const hosted = await someRepo(at.ada, { type: "dataset", name: "hosted" });
    const name = (text: string) => `${at.ada.username}/${text}`;
    const { body } = await sync(at, [
      reported(at, { id: "1", name: name("a") }),
      reported(at, { id: "2", name: hosted.fullName.toUpperCase() }),
      reported(at, { id: "3", name: "no-such-owner/x" }),
      reported(at, { id: "4", name: name("..") }),
      reported(at, { id: "5", private: "yes" }),
      reported(at, { id: "6", name: name("a\0") }),
      reported(at, { id: "1", name: name("again") }),
      reported(at, { id: "8", url: "javascript:alert(1)" }),
      reported(at, { id: "9", name: name("A") }),
      reported(at, { id: "10", type: "bucket" }),
      null,
      7,
      reported(at, { id: "11", name: name("z") }),
    ]);
    expect(body.results).toMatchObject([
      { id: "1", status: "created" },
      { id: "2", status: "failed", code: "conflict", field: "name" },
      { id: "3", status: "failed", code: "not_found" },
      { id: "4", status: "failed", field: "name" },
      { id: "5", status: "failed", field: "private" },
      { id: null, status: "failed", code: "invalid_request" },
      { id: "1", status: "failed", field: "id" },
      { id: "8", status: "failed", field: "url" },
      { id: "9", status: "failed", code: "conflict" },
      { id: "10", status: "failed", field: "type" },
      { id: null, status: "failed" },
      { id: null, status: "failed" },
      { id: "11", status: "created" },
    ]);
    expect(statuses(await sync(at, [reported(at, { id: "1", name: name("a") }), null], { complete: true }))).toEqual([
      "unchanged",
      "failed",
    ]);
    expect(statuses(await sync(at, [reported(at, { id: "1", name: hosted.fullName })], { complete: true }))).toEqual([
      "failed",
      "deleted",
    ]);
    expect(await rowOf(at, "1")).toMatchObject({ name: "a" });
  });

  test("two or three repositories can exchange names, even if another repository cannot be renamed", async () => {
    const at = await prepare();
    const names = (...letters: string[]) =>
      letters.map((letter, index) => reported(at, { id: String(index), name: `${at.ada.username}/${letter}` }));
    await sync(at, names("a", "b", "c", "d"));
    expect(statuses(await sync(at, names("b", "a")))).toEqual(["moved", "moved"]);
    const hosted = await someRepo(at.ada, { type: "dataset", name: "taken" });
    expect(statuses(await sync(at, names("a", "c", "b", hosted.name)))).toEqual(["moved", "moved", "moved", "failed"]);
    expect(statuses(await sync(at, names(hosted.name, "a", "b", "d")))).toEqual(["failed", "failed", "unchanged", "unchanged"]);
    const rows = await db().repo.findMany({ where: { platformId: at.platform.id }, orderBy: { externalId: "asc" } });
    expect(rows.map(({ name, nameCanonical }) => [name, nameCanonical])).toEqual(["a", "c", "b", "d"].map((one) => [one, one]));
  });

  test("records events if requested, as for a hosted repository", async () => {
    const at = await prepare();
    const events = { events: true };
    await sync(at, [reported(at)], events);
    const name = `${at.ada.username}/moons`;
    await sync(at, [reported(at, { name, private: true, headSha: sha("c") })], events);
    await sync(at, [], { ...events, complete: true });
    const recorded = await db().event.findMany({ where: { ownerId: at.ada.id }, orderBy: { createdAt: "asc" } });
    for (const { payload } of recorded) eventPayloadSchema.parse(payload);
    const kinds = recorded.map(({ scope, action }) => `${scope} ${action}`);
    expect(kinds.sort()).toEqual(["repo create", "repo delete", "repo move", "repo.config update", "repo.content update"]);
    expect(recorded.find(({ scope }) => scope === "repo.config")?.payload).toMatchObject({
      repo: { name, private: true, url: { web: "https://forge.example/ada/tides" } },
      updatedConfig: { private: true },
    });
  });

  test("S138 a thousand repositories need only a few statements, and more than a thousand are refused", async () => {
    const at = await prepare();
    const many = Array.from({ length: 1_000 }, (_, index) => reported(at, { id: index, name: `${at.ada.username}/r${index}` }));
    const asked = await watchStatements();
    expect(new Set(statuses(await sync(at, many)))).toEqual(new Set(["created"]));
    expect(new Set(statuses(await sync(at, many)))).toEqual(new Set(["unchanged"]));
    expect(asked.mock.calls.length).toBeLessThan(50);
    asked.mockRestore();
    const last = reported(at, { id: 1_000, name: `${at.ada.username}/last` });
    expect((await sync(at, [...many, last])).status).toBe(413);
    expect(statuses(await sync(at, [last]))).toEqual(["created"]);
    expect(await sync(at, [], { complete: true })).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(statuses(await sync(at, [last], { complete: true }))).toEqual(["unchanged", ...many.map(() => "deleted")]);
    expect((await post("/api/repos/sync", at.platform.token, { headers: json, body: '{"repos":7}' })).status).toBe(400);
    expect((await post("/api/repos/sync", at.platform.token, { headers: json, body: "{" })).status).toBe(400);
  });

  test("a platform cannot access another platform's repositories", async () => {
    const [at, other] = [await prepare(), await prepare()];
    await sync(at, [reported(at)]);
    const theirs = { ...other, ada: at.ada };
    expect((await sync(theirs, [reported(at)])).body.results).toMatchObject([{ status: "failed", code: "conflict" }]);
    expect(statuses(await sync(theirs, [], { complete: true }))).toEqual([]);
    const event = pushed(other, { data: { ...(pushed(at).data as object), repo: { id: (await rowOf(at))?.id } } });
    expect(await structured(other, event)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await rowOf(at)).toMatchObject({ headSha: null });
  });
});

describe("POST /api/events", () => {
  test.each([
    ["structured", structured],
    ["binary", binary],
  ] as const)("accepts a %s event, adds the service's own data, and updates the row", async (_, by) => {
    const at = await prepare();
    await sync(at, [reported(at, { private: true })]);
    const answer = await by(at, pushed(at));
    expect(answer).toMatchObject({ status: 200, body: { status: "recorded", eventId: expect.stringMatching(/^[0-9a-f]{24}$/) } });
    const row = await rowOf(at);
    expect(row).toMatchObject({ headSha: sha("a") });
    const [event] = await recordedOf(at.platform);
    expect(event).toMatchObject({
      id: answer.body.eventId,
      ownerId: at.ada.id,
      isPrivate: true,
      repoType: "dataset",
      actorId: null,
    });
    expect(eventPayloadSchema.parse(event?.payload)).toEqual({
      event: { scope: "repo.content", action: "update" },
      repo: {
        type: "dataset",
        name: `${at.ada.username}/tides`,
        id: row?.id,
        private: true,
        url: { web: "https://forge.example/ada/tides", api: `${world.origin}/api/datasets/${at.ada.username}/tides` },
        owner: { id: at.ada.id },
        headSha: sha("a"),
        tags: [],
      },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: sha("a") }],
    });
  });

  test("records each event once, even if it is sent again later, in parallel or within one batch", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const event = pushed(at);
    const answers = await Promise.all(Array.from({ length: 8 }, () => structured(at, event)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.map(({ body }) => body.status).sort()).toEqual([...Array(7).fill("duplicate"), "recorded"]);
    expect((await binary(at, event)).body).toMatchObject({ status: "duplicate", id: event.id });
    const fresh = pushed(at).toJSON();
    expect(statuses(await batch(at, [event.toJSON(), fresh, fresh]))).toEqual(["duplicate", "recorded", "duplicate"]);
    const elsewhere = { ...event.toJSON(), source: `${at.platform.source}/elsewhere` };
    expect(statuses(await batch(at, [elsewhere]))).toEqual(["recorded"]);
    expect(await recordedOf(at.platform)).toHaveLength(3);
  });

  test("a platform that sends many requests at once does not block the database for other callers", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const flood = Array.from({ length: 150 }, () => structured(at, pushed(at)));
    const other = await fetch(`${world.origin}/api/collections`);
    expect(other.status).toBe(200);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, headers } of refused) expect([status, headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await recordedOf(at.platform)).toHaveLength(150 - refused.length);
    expect(refused.length).toBeLessThan(100);
  });

  test("finds the repository by our id, by the platform's, or by type and name in any case", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const id = (await rowOf(at))?.id;
    const references = [{ id }, { externalId: 7 }, { externalId: "7" }, { type: "dataset", name: `${at.ada.username}/TIDES` }];
    const of = (repo: unknown) => ({ ...pushed(at).toJSON(), data: { ...(pushed(at).data as object), repo } });
    expect(statuses(await batch(at, references.map(of)))).toEqual(Array(4).fill("recorded"));
    const unknown = [
      { id: newId() },
      { externalId: "8" },
      { name: `${at.ada.username}/tides` },
      { type: "dataset", name: "x/y" },
    ];
    const { body } = await batch(at, unknown.map(of));
    expect(body.results).toMatchObject(Array(4).fill({ status: "failed", code: "not_found" }));
  });

  test("each event updates the repository's row, in the order of a batch", async () => {
    const at = await prepare();
    const { ada, platform } = at;
    const source = platform.source;
    const event = (kind: string, data: object) => ({
      specversion: "1.0",
      id: randomUUID(),
      source,
      type: `org.forge.${kind}`,
      data,
    });
    const repo = { externalId: "7" };
    const { body } = await batch(at, [
      event("repo.create", {
        repo: { ...reported(at), externalId: 7, id: undefined, url: { web: "https://forge.example/ada/tides" } },
      }),
      event("repo.content.update", { repo, updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: sha("d") }] }),
      event("repo.config.update", { repo, updatedConfig: { private: true, archived: true } }),
      event("repo.move", { repo, movedTo: { name: `${ada.username}/moons` } }),
      event("repo.update", { repo }),
    ]);
    expect(body.results.map((one: { status: string }) => one.status)).toEqual(Array(5).fill("recorded"));
    expect(await rowOf(at)).toMatchObject({ name: "moons", isPrivate: true, headSha: sha("d") });
    const payloads = (await recordedOf(platform)).map(({ payload }) => eventPayloadSchema.parse(payload));
    const of = (scope: string, action: string) => payloads.find(({ event }) => event.scope === scope && event.action === action);
    expect(of("repo", "create")?.repo).toMatchObject({ private: false, name: `${ada.username}/tides` });
    expect(of("repo.config", "update")).toMatchObject({
      repo: { private: true },
      updatedConfig: { private: true, archived: true },
    });
    expect(of("repo", "move")).toMatchObject({
      repo: { name: `${ada.username}/tides` },
      movedTo: { name: `${ada.username}/moons`, owner: { id: ada.id } },
    });
    expect(of("repo", "update")?.repo.name).toBe(`${ada.username}/moons`);
    expect((await batch(at, [event("repo.delete", { repo }), event("repo.update", { repo })])).body.results).toMatchObject([
      { status: "recorded" },
      { status: "failed", code: "not_found" },
    ]);
    expect(await rowOf(at)).toBeNull();
  });

  test("a move to a taken name is refused, and the rest of the batch continues", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const hosted = await someRepo(at.ada, { type: "dataset" });
    const event = (type: string, data: object) => ({
      specversion: "1.0",
      id: randomUUID(),
      source: at.platform.source,
      type,
      data,
    });
    const { body } = await batch(at, [
      event("repo.move", { repo: { externalId: "7" }, movedTo: { name: hosted.fullName } }),
      event("repo.move", { repo: { externalId: "7" }, movedTo: { name: "no-such-owner/tides" } }),
      event("repo.create", { repo: { ...reported(at, { name: hosted.fullName }), externalId: "9" } }),
      pushed(at).toJSON(),
    ]);
    expect(body.results).toMatchObject([
      { status: "failed", code: "conflict", field: "data.movedTo.name" },
      { status: "failed", code: "not_found" },
      { status: "failed", code: "conflict" },
      { status: "recorded" },
    ]);
    expect(await rowOf(at)).toMatchObject({ name: "tides", headSha: sha("a") });
  });

  test("discussions and comments have stable ids of ours, and users are found by their names", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const author = { name: at.ada.username.toUpperCase(), id: 1 };
    const discussion = {
      id: 55,
      num: 3,
      title: "Neap tides",
      status: "open",
      isPullRequest: true,
      author,
      url: { web: "https://forge.example/ada/tides/pulls/3" },
      changes: { base: "refs/heads/main" },
    };
    const comment = { id: 900, author: { id: 2 }, content: "\u{fffd} all right", url: { web: "https://forge.example/x#c900" } };
    const event = (type: string, data: object) => ({
      specversion: "1.0",
      id: randomUUID(),
      source: at.platform.source,
      type,
      data,
    });
    const repo = { externalId: "7" };
    const { body } = await batch(at, [
      event("forge.discussion.create", { repo, discussion, comment }),
      event("forge.discussion.comment.update", { repo, discussion, comment: { ...comment, hidden: true } }),
      event("forge.discussion.update", { repo, discussion: { ...discussion, status: "merged", pinned: true } }),
    ]);
    expect(body.results.map((one: { status: string }) => one.status)).toEqual(Array(3).fill("recorded"));
    const payloads = (await recordedOf(at.platform)).map(({ payload }) => eventPayloadSchema.parse(payload)) as unknown as {
      event: { scope: string; action: string };
      repo: object;
      discussion: { id: string; author: { id: string } };
      comment?: { id: string; content?: string; hidden: boolean; author: { id: string } };
    }[];
    const created = payloads.find(({ event }) => event.action === "create");
    const hidden = payloads.find(({ event }) => event.scope === "discussion.comment");
    expect(created).toMatchObject({
      discussion: {
        author: { id: at.ada.id },
        num: 3,
        url: { api: `${world.origin}/api/datasets/${at.ada.username}/tides/discussions/3` },
      },
      comment: { content: "\u{fffd} all right", hidden: false },
    });
    expect(created?.repo).not.toHaveProperty("headSha");
    expect(hidden?.comment).toMatchObject({ id: created?.comment?.id, hidden: true, author: created?.comment?.author });
    expect(hidden?.comment).not.toHaveProperty("content");
    expect(new Set(payloads.map(({ discussion: { id } }) => id)).size).toBe(1);
    expect(created?.comment?.author.id).not.toBe(at.ada.id);
  });

  test("S138 a thousand events need only a few statements, and more than a thousand are refused", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const many = Array.from({ length: 1_000 }, () => pushed(at).toJSON());
    const asked = await watchStatements();
    expect(new Set(statuses(await batch(at, many)))).toEqual(new Set(["recorded"]));
    expect(asked.mock.calls.length).toBeLessThan(25);
    asked.mockRestore();
    expect(await recordedOf(at.platform)).toHaveLength(1_000);
    expect((await batch(at, [...many, pushed(at).toJSON()])).status).toBe(413);
    expect((await batch(at, [])).body).toEqual({ results: [] });
  });
});

describe("S51, S138 an invalid body", () => {
  const data = { repo: { externalId: "7" }, updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: sha("a") }] };
  const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  let at: Prepared;
  beforeAll(async () => {
    at = await prepare();
    await sync(at, [reported(at)]);
  });

  test.each([
    ["id", { id: undefined }],
    ["id", { id: "" }],
    ["id", { id: 7 }],
    ["id", { id: "x".repeat(256) }],
    ["source", { source: "https://elsewhere.example" }],
    ["source", { source: "has spaces" }],
    ["source", { source: undefined }],
    ["type", { type: "com.example.repo.explode" }],
    ["type", { type: "" }],
    ["specversion", { specversion: "0.3" }],
    ["time", { time: "yesterday" }],
    ["time", { time: "2026-13-45T99:99:99Z" }],
    ["time", { time: 7 }],
    ["datacontenttype", { datacontenttype: "text/xml" }],
    ["data_base64", { data: undefined, data_base64: "e30=" }],
    ["data", { data: "text" }],
    ["data.repo", { data: { ...data, repo: {} } }],
    ["data.repo.id", { data: { ...data, repo: { id: "7" } } }],
    ["data.updatedRefs.0.newSha", { data: { ...data, updatedRefs: [{ ...data.updatedRefs[0], newSha: "abc" }] } }],
    ["data.updatedRefs.0.ref", { data: { ...data, updatedRefs: [{ ...data.updatedRefs[0], ref: "main" }] } }],
    ["data.updatedRefs", { data: { ...data, updatedRefs: [] } }],
    ["data.event", { data: { ...data, event: { scope: "repo", action: "delete" } } }],
    ["data.updatedConfig.private", { type: "repo.config.update", data: { ...data, updatedConfig: { private: "no" } } }],
    ["data.discussion.num", { type: "discussion.update", data: { ...data, discussion: { num: 1e99 } } }],
    ["data", { type: "repo.config.update", data: { ...data, updatedConfig: { note: "x".repeat(256 * 1024) } } }],
    [undefined, { id: "a\0b" }],
    [undefined, { data: { ...data, note: "\ud800" } }],
    [undefined, { data: { ...data, "\0": 1 } }],
    [undefined, { type: "repo.config.update", data: { ...data, updatedConfig: deep(1_000) } }],
  ])("is refused with the field %s", async (field, changes) => {
    const sent = {
      specversion: "1.0",
      id: randomUUID(),
      source: at.platform.source,
      type: "repo.content.update",
      data,
      ...changes,
    };
    const { body } = await batch(at, [sent]);
    expect(body.results).toMatchObject([
      { status: "failed", code: field === "source" && /else/.test(String(sent.source)) ? "forbidden" : "invalid_request" },
    ]);
    expect(body.results[0].field).toBe(field);
    const alone = await post("/api/events", at.platform.token, {
      headers: { "content-type": "application/cloudevents+json" },
      body: sent,
    });
    expect(alone.body.error).toBe(body.results[0].error);
    expect([400, 403]).toContain(alone.status);
  });

  test.each([
    ["application/cloudevents+json", "{"],
    ["application/cloudevents+json", "null"],
    ["application/cloudevents+json", "[]"],
    ["application/cloudevents+json", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["application/cloudevents-batch+json", "[".repeat(100_000)],
    ["application/cloudevents-batch+json", "{}"],
    ["application/json", "{}"],
    ["text/plain", "hello"],
    ["", ""],
  ])("is refused as %s: %.20s", async (type, body) => {
    const answer = await post("/api/events", at.platform.token, { headers: { "content-type": type }, body });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  test("is refused if the headers of a binary event are not text", async () => {
    const headers = {
      ...json,
      "ce-specversion": "1.0",
      "ce-id": "%ff",
      "ce-source": at.platform.source,
      "ce-type": "repo.update",
    };
    expect(await post("/api/events", at.platform.token, { headers, body: {} })).toMatchObject({ status: 400 });
    const nul = { ...headers, "ce-id": "%00" };
    expect(await post("/api/events", at.platform.token, { headers: nul, body: { repo: { externalId: 7 } } })).toMatchObject({
      status: 400,
    });
  });

  test("is refused if it has six megabytes, and a valid body of a megabyte is accepted", async () => {
    const content = "x".repeat(150_000);
    const discussion = { num: 1, title: "t", status: "open", author: { id: 1 }, url: { web: "https://forge.example/1" } };
    const comment = { id: 1, author: { id: 1 }, content, url: { web: "https://forge.example/1" } };
    const event = () => ({ ...pushed(at).toJSON(), type: "discussion.comment.create", data: { ...data, discussion, comment } });
    expect(new Set(statuses(await batch(at, Array.from({ length: 8 }, event))))).toEqual(new Set(["recorded"]));
    expect((await batch(at, Array.from({ length: 40 }, event))).status).toBe(413);
  });
});

test("an event's time may be in the distant past or future", async () => {
  const at = await prepare();
  await sync(at, [reported(at)]);
  for (const time of ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00"]) {
    expect((await structured(at, pushed(at, { time }))).body).toMatchObject({ status: "recorded" });
  }
  const { updatedAt } = (await rowOf(at)) ?? {};
  expect(Math.abs(Date.now() - (updatedAt?.getTime() ?? 0))).toBeLessThan(60_000);
});

describe("the platform's token", () => {
  test("S55 is stored as a hash, and no other kind of token is accepted", async () => {
    const at = await prepare();
    expect(at.platform.token).toMatch(/^kh_platform_[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(await db().platform.findMany())).not.toContain(at.platform.token.slice(12));
    for (const token of ["kh_platform_nothing", "", "kh_x", `${at.platform.token}x`, "a\u00ffb"]) {
      const answer = await post("/api/repos/sync", token, { headers: json, body: { repos: [] } });
      expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    expect(
      (await fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${at.platform.token}` } })).status,
    ).toBe(401);
  });

  test("the previous token works for another day after a rotation, and no token works after revocation", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const { token, previousExpiresAt } = await rotatePlatformToken(operatorCommand, at.platform, from);
    expect(previousExpiresAt.getTime() - Date.now()).toBeCloseTo(24 * 3600 * 1000, -4);
    const tryWith = async (one: string) => (await post("/api/repos/sync", one, { headers: json, body: { repos: [] } })).status;
    expect([await tryWith(at.platform.token), await tryWith(token)]).toEqual([200, 200]);
    await db().platform.update({ where: { id: at.platform.id }, data: { previousExpiresAt: new Date(Date.now() - 1) } });
    expect([await tryWith(at.platform.token), await tryWith(token)]).toEqual([401, 200]);
    expect((await db().platform.findUnique({ where: { id: at.platform.id } }))?.lastUsedAt).not.toBeNull();
    expect(await revokePlatform(operatorCommand, at.platform, from)).toEqual({ removedRepos: 1 });
    expect(await tryWith(token)).toBe(401);
    await expect(revokePlatform(operatorCommand, at.platform, from)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("requests of a platform at the same time", () => {
  test("share transactions, keep their order, and get separate responses", async () => {
    const at = await prepare();
    await sync(at, [reported(at)]);
    const before = await recordedOf(at.platform);
    const events = Array.from({ length: 40 }, (_, nth) =>
      pushed(at, {
        id: `at-once-${nth}`,
        data: {
          repo: { externalId: nth === 20 ? "unknown" : "7" },
          updatedRefs: [{ ref: "refs/heads/main", oldSha: sha("0"), newSha: sha("a") }],
        },
      }),
    );
    const answers = await Promise.all([...events, events[3] as (typeof events)[number]].map((event) => structured(at, event)));
    expect(answers.map(({ status }) => status)).toEqual([...events.map((_, nth) => (nth === 20 ? 404 : 200)), 200]);
    expect(answers.filter(({ body }) => body.status === "duplicate")).toHaveLength(1);
    for (const [nth, { body }] of answers.slice(0, 40).entries()) if (nth !== 20) expect(body.id).toBe(`at-once-${nth}`);
    const recorded = (await recordedOf(at.platform)).slice(before.length);
    expect(new Set(recorded.map(({ sourceId }) => sourceId)).size).toBe(39);
    const { rows } = await pool().query(
      "select count(distinct xmin::text)::int as n from event where id = any ($1) and fanned_out_at is null",
      [recorded.map(({ id }) => id)],
    );
    expect(rows[0].n).toBeLessThan(39);
  });
});
