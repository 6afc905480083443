import { createCollection, deleteCollection, listCollections } from "@huggingface/hub";
import type { Scope } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { provideSettings } from "#core/env.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

async function somebody(...scopes: Scope[]): Promise<TestPerson & { accessToken: string }> {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes, expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input, from);
  return { ...person, accessToken: token };
}

const curator = () => somebody("write-collections", "read-repos");

async function send(method: string, path: string, { accessToken, body }: { accessToken?: string; body?: unknown } = {}) {
  const response = await fetch(`${world.origin}/api/collections${path}`, {
    method,
    headers: {
      ...(accessToken && { authorization: `Bearer ${accessToken}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const create = (person: { username: string; accessToken: string }, changes: Record<string, unknown> = {}) =>
  send("POST", "", { accessToken: person.accessToken, body: { title: "Tides", namespace: person.username, ...changes } });

test("the JavaScript client creates, lists and deletes a collection, whose items match the client's types", async () => {
  const ada = await curator();
  const client = { hubUrl: world.origin, accessToken: ada.accessToken };
  const { slug } = await createCollection({ ...client, collection: { title: "Tide tables", namespace: ada.username } });
  expect(slug).toMatch(new RegExp(`^${ada.username}/tide-tables-[0-9a-f]{24}$`));
  const repo = await someRepo(ada, { type: "dataset", isPrivate: true });
  const body = { item: { type: "dataset", id: repo.fullName }, note: "<b>high</b> water" };
  const added = await send("POST", `/${slug}/items`, { ...ada, body });
  expect(added).toMatchObject({
    status: 200,
    body: {
      slug,
      title: "Tide tables",
      owner: { name: ada.username, type: "user" },
      private: false,
      theme: "blue",
      items: [
        {
          type: "dataset",
          repoType: "dataset",
          id: repo.fullName,
          author: ada.username,
          position: 0,
          private: true,
          note: { text: "<b>high</b> water", html: "&#60;b&#62;high&#60;/b&#62; water" },
        },
      ],
    },
  });
  const listed = [];
  for await (const one of listCollections({ ...client, search: { owner: [ada.username] } })) listed.push(one);
  expect(listed).toMatchObject([{ slug, items: [{ id: repo.fullName }] }]);
  expect((await send("DELETE", `/${slug}/items/${added.body.items[0]._id}`, ada)).status).toBe(200);
  expect((await send("GET", `/${slug}`)).body.items).toEqual([]);
  await deleteCollection({ ...client, slug });
  expect((await send("GET", `/${slug}`)).status).toBe(404);
});

describe("the fields that the Python client reads (docs/specification/repositories-and-git.md#collections)", () => {
  test("creating a second collection with the same title gets 409 with the slug of the first", async () => {
    const ada = await curator();
    const first = await create(ada, { description: "Of the sea", private: true });
    expect(first).toMatchObject({
      status: 200,
      body: { description: "Of the sea", private: true, position: 0, upvotes: 0, items: [] },
    });
    expect(first.body.url).toBe(`${world.origin}/collections/${first.body.slug}`);
    expect(new Date(first.body.lastUpdated).toISOString()).toBe(first.body.lastUpdated);
    const second = await create(ada);
    expect(second).toMatchObject({ status: 409, body: { slug: first.body.slug, code: "conflict" } });
    expect((await send("GET", `/${second.body.slug}`, ada)).status).toBe(200);
  });

  test("the collections in a list have no `position`, because the client adds its own", async () => {
    const ada = await curator();
    await create(ada);
    const { body } = await send("GET", `?owner=${ada.username}`);
    expect(body).toHaveLength(1);
    expect(body[0]).not.toHaveProperty("position");
  });

  test("a list continues at the URL in Link", async () => {
    const ada = await curator();
    for (const title of ["a", "b", "c"]) await create(ada, { title });
    const titles = [];
    for (let next = `${world.origin}/api/collections?owner=${ada.username}&limit=2`, pages = 0; next && pages < 5; pages++) {
      const response = await fetch(next);
      for (const { title } of (await response.json()) as { title: string }[]) titles.push(title);
      next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
    }
    expect(titles).toEqual(["c", "b", "a"]);
  });

  test("a change returns the collection in `data`, and adding an item twice gets 409", async () => {
    const ada = await curator();
    const { slug } = (await create(ada)).body;
    const changed = await send("PATCH", `/${slug}`, { ...ada, body: { title: "Ebb", theme: "pink" } });
    expect(changed).toMatchObject({ status: 200, body: { data: { title: "Ebb", theme: "pink" } } });
    expect(changed.body.data.slug).not.toBe(slug);
    const repos = [await someRepo(ada), await someRepo(ada)];
    for (const repo of repos) {
      const added = await send("POST", `/${slug}/items`, { ...ada, body: { item: { type: "model", id: repo.fullName } } });
      expect(added).toMatchObject({ status: 200, body: { title: "Ebb" } });
    }
    const again = await send("POST", `/${slug}/items`, { ...ada, body: { item: { type: "model", id: repos[0]?.fullName } } });
    expect(again).toMatchObject({ status: 409, body: { code: "conflict" } });
    const [, item] = (await send("GET", `/${slug}`)).body.items;
    const moved = await send("PATCH", `/${slug}/items/${item._id}`, { ...ada, body: { position: 0, note: "first" } });
    expect(moved.status).toBe(200);
    expect((await send("GET", `/${slug}`)).body.items).toMatchObject([
      { id: repos[1]?.fullName, position: 0, note: { text: "first" } },
      { id: repos[0]?.fullName, position: 1 },
    ]);
    const found = await send("GET", `?item=models/${repos[1]?.fullName}`);
    expect(found.body).toMatchObject([{ slug: changed.body.data.slug }]);
  });
});

describe("S136, S138", () => {
  test("a hidden resource looks like a missing one", async () => {
    const [ada, eve] = [await curator(), await curator()];
    const { slug } = (await create(ada, { private: true })).body;
    const nowhere = await send("GET", `/${ada.username}/tides-0123456789abcdef01234567`, eve);
    for (const [method, path, body] of [
      ["GET", `/${slug}`, undefined],
      ["DELETE", `/${slug}`, undefined],
      ["PATCH", `/${slug}`, { title: "Mine" }],
      ["POST", `/${slug}/items`, { item: { type: "model", id: "a/b" } }],
      ["DELETE", `/${slug}/items/0123456789abcdef01234567`, undefined],
    ] as const) {
      const answer = await send(method, path, { ...eve, ...(body && { body }) });
      expect([answer.status, answer.body]).toEqual([404, nowhere.body]);
    }
    expect((await send("GET", `/${slug}`)).body).toEqual(nowhere.body);
  });

  test("a token needs the scope, and the refusal names it", async () => {
    const reader = await somebody("read-collections");
    expect(await create(reader)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect((await send("POST", "", { body: { title: "Tides" } })).status).toBe(401);
  });

  test.each([
    ["POST", "", "{"],
    ["POST", "", "[]"],
    ["POST", "", { title: 7 }],
    ["POST", "", { title: "a\u0000b" }],
    ["POST", "", '{"title":"\\ud800"}'],
    ["POST", "", { title: "Tides", theme: "plaid" }],
    ["POST", "", { title: "Tides", description: "x".repeat(151) }],
    ["PATCH", "/{slug}", { position: -1 }],
    ["PATCH", "/{slug}", { position: 1e300 }],
    ["POST", "/{slug}/items", { item: { type: "paper", id: "2311.12983" } }],
    ["POST", "/{slug}/items", { item: { type: "model", id: "a/b/c" } }],
    ["POST", "/{slug}/items", { item: { type: "model", id: "a/b" }, note: "x".repeat(501) }],
    ["GET", "?limit=nine", undefined],
    ["GET", "?item=nothing", undefined],
    ["GET", "?q=%00", undefined],
  ] as const)("%s %s refuses %j", async (method, path, body) => {
    const ada = await curator();
    const { slug } = (await create(ada, { title: "There" })).body;
    const answer = await send(method, path.replace("{slug}", slug), { ...ada, ...(body !== undefined && { body }) });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  test("odd URLs find no collection", async () => {
    for (const path of ["/a/%00", "/a/b", "/a/%ff", `/a/${"x".repeat(5_000)}`, "/a/..%2f..%2fb"]) {
      expect([400, 404]).toContain((await send("GET", path)).status);
    }
    expect((await send("GET", "?p=999999999&limit=999999999")).body).toEqual([]);
  });
});
