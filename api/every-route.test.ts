import { scopes } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { collectionName } from "#core/hub/collections/collection.ts";
import { newId } from "#core/ids.ts";
import { api } from "./app.ts";
import { type AccessWorld, type Hand, makeAccessWorld, type RepoKey, type Who } from "./testing/access-world.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** S135: the tokens have every scope, so only their kind or their user can prevent access. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let at: AccessWorld;
const MURMUR = `murmur-${newId()}`;

beforeAll(async () => {
  world = await startApiWorld();
  at = await makeAccessWorld(world.origin, [scopes]);
  await db().repo.updateMany({ where: { isPrivate: true }, data: { description: MURMUR } });
  await db().collection.updateMany({ where: { isPrivate: true }, data: { description: MURMUR } });
  const repos = { repoId: { in: Object.values(at.repos).flatMap(({ id, isPrivate }) => (isPrivate ? [id] : [])) } };
  await db().discussion.updateMany({ where: repos, data: { title: MURMUR } });
});
afterAll(() => world.stop());

type Target = Extract<RepoKey, `${string}-private`>;

/** A member who does not meet the organization's requirements gets 403 even if the target does not exist. */
const attempts: { who?: Who; hand?: Hand; at: Target; refusals: number[] }[] = [
  { at: "own-private", refusals: [401, 404] },
  { at: "org-private", refusals: [401, 404] },
  { who: "stranger", hand: "personal", at: "org-private", refusals: [404] },
  { who: "admin", hand: "exchanged", at: "admin-private", refusals: [404] },
  { who: "admin", hand: "exchanged", at: "else-private", refusals: [404] },
  { who: "admin", hand: "app", at: "else-private", refusals: [404] },
  { who: "admin", hand: "app-without-org", at: "org-private", refusals: [404] },
  { who: "admin", hand: "unadmitted", at: "org-private", refusals: [404] },
  { who: "unmet", hand: "personal", at: "org-private", refusals: [403] },
  { who: "unmet", hand: "exchanged", at: "org-private", refusals: [403] },
  { who: "job", hand: "ci", at: "else-private", refusals: [404] },
  { who: "accepted", hand: "ci", at: "own-private", refusals: [404] },
];

type Route = { method: string; template: string };

function routesLike(pattern: RegExp): Route[] {
  const found = api.routes
    .filter(({ method, path }) => method !== "ALL" && pattern.test(path))
    .map(({ method, path }) => ({ method, template: path }));
  return [...new Map(found.map((one) => [`${one.method} ${one.template}`, one])).values()];
}

const values: Record<string, string> = {
  rev: "main",
  branch: "main",
  tag: "v1",
  num: "1",
  range: "main..main",
  oid: "a".repeat(64),
  status: "pending",
};

const fill = (template: string, named: Record<string, string>): string =>
  template
    .replace(/:(\w+)(\{[^}]*\})?\??/g, (_, parameter: string) => named[parameter] ?? values[parameter] ?? "a".repeat(24))
    .replace(/\*$/, "a.txt")
    .replace(/info\/refs$/, "$&?service=git-upload-pack");

const bodyFor = (path: string): string =>
  JSON.stringify({
    ...{ repository: "nobody/taken", defaultVisibility: "public", deletions: { sha: ["a".repeat(64)] } },
    target: { type: "model", name: "nobody/taken" },
    ...{ title: "x", comment: "x", content: "x", message: "x", summary: "x", tag: "v2", reaction: "👍", user: "nobody" },
    status: path.endsWith("/handle") ? "accepted" : "closed",
    item: { type: "model", id: at.repos["own-public"].fullName },
    ...{ url: "https://hooks.example.com/", watched: [{ type: "model", name: at.repos["own-public"].fullName }] },
    ...{ name: "Paper Lantern", redirectUris: ["https://app.example.com/"] },
    token: "x",
    ...{ seconds: 3_600, key: "TIDE", value: "high", deliveries: ["a".repeat(24)] },
    ...{ files: [], paths: ["a.txt"], operation: "download", transfers: ["basic"], objects: [{ oid: values.oid, size: 1 }] },
  });

async function send({ method }: Route, path: string, token?: string, body = bodyFor(path)) {
  const hasBody = !["GET", "HEAD"].includes(method);
  const response = await fetch(world.origin + path, {
    method,
    redirect: "manual",
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...(hasBody && { "content-type": "application/json" }) },
    ...(hasBody && { body }),
  });
  const kept = [...response.headers].filter(([name]) => !["date", "x-request-id", "connection", "keep-alive"].includes(name));
  return { status: response.status, all: JSON.stringify([kept, await response.text()]) };
}

function tokenOf({ who, hand }: { who?: Who; hand?: Hand }): string | undefined {
  if (!who) return undefined;
  const token = at.actors.find((actor) => actor.who === who && actor.hand === hand)?.token;
  if (!token) throw new Error(`nobody is ${who} by ${hand}`);
  return token;
}

async function each<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const lane = async () => {
    for (const item of left) await run(item);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

const crossed = (routes: Route[]) => attempts.flatMap((attempt) => routes.map((route) => ({ attempt, route })));
const named = ({ who, hand }: { who?: Who; hand?: Hand }, { method, template }: Route) =>
  `${who ?? "anybody"} by ${hand ?? "no token"}: ${method} ${template}`;

test("S135 S136 S95 no kind of token reaches or reveals a repository to which it has no access", {
  timeout: 120_000,
}, async () => {
  const routes = routesLike(/^(\/api\/models)?\/:owner\/:name\b|^\/api\/:type(\{[^}]*\})?\/:owner\/:name\b/);
  expect(routes.length).toBeGreaterThan(35);
  const wrong: string[] = [];
  await each(crossed(routes), async ({ attempt, route }) => {
    const { owner, name } = at.repos[attempt.at];
    const missing = `${name}-absent`;
    const pathOf = (one: string) => fill(route.template, { type: "models", owner: owner.handle, name: one });
    const token = tokenOf(attempt);
    const [there, absent] = [await send(route, pathOf(name), token), await send(route, pathOf(missing), token)];
    // The URL of a large file's transfer is signed. Without a valid signature the response is 403.
    const refusals = route.template.includes("/info/lfs/objects/:oid") ? [403] : attempt.refusals;
    if (!refusals.includes(there.status)) wrong.push(`${named(attempt, route)}: ${there.status}`);
    if (there.all.includes(MURMUR)) wrong.push(`${named(attempt, route)} reveals its content`);
    if (there.status !== absent.status || there.all !== absent.all.replaceAll(missing, name))
      wrong.push(`${named(attempt, route)} distinguishes it from a missing one: ${there.all} and ${absent.all}`);
  });
  expect(wrong).toEqual([]);
});

test("S135 S95 no kind of token reaches a collection or organization that is closed to it", async () => {
  const ofCollections = routesLike(/^\/api\/collections\/:namespace\/:slug\b/);
  const ofOrganizations = routesLike(/^\/api\/organizations\/:name\b/).filter(
    ({ template }) => !/\/(overview|avatar)$/.test(template),
  );
  expect([ofCollections.length > 4, ofOrganizations.length > 2]).toEqual([true, true]);
  const wrong: string[] = [];
  await each(crossed([...ofCollections, ...ofOrganizations]), async ({ attempt, route }) => {
    const path = collectionName(at.collections[attempt.at as keyof typeof at.collections]);
    const [namespace = "", slug = ""] = path.split("/");
    const { status, all } = await send(route, fill(route.template, { namespace, slug, name: namespace }), tokenOf(attempt));
    const isRefused = status === 401 || status === 403 || status === 404;
    if (!isRefused || all.includes(MURMUR)) wrong.push(`${named(attempt, route)}: ${status}`);
  });
  const making = [
    { method: "POST", template: "/api/repos/create", body: (owner: string) => ({ name: "x", organization: owner }) },
    { method: "DELETE", template: "/api/repos/delete", body: (owner: string, name: string) => ({ name, organization: owner }) },
    {
      method: "POST",
      template: "/api/repos/move",
      body: (owner: string, name: string) => ({ fromRepo: `${owner}/${name}`, toRepo: `${owner}/taken-over` }),
    },
    { method: "POST", template: "/api/collections", body: (namespace: string) => ({ title: "x", namespace }) },
  ];
  await each(
    attempts.flatMap((attempt) => making.map((route) => ({ attempt, route }))),
    async ({ attempt, route }) => {
      const { owner, name } = at.repos[attempt.at];
      const body = JSON.stringify(route.body(owner.handle, name));
      const { status } = await send(route, route.template, tokenOf(attempt), body);
      if (![401, 403, 404].includes(status)) wrong.push(`${named(attempt, route)}: ${status}`);
    },
  );
  expect(wrong).toEqual([]);
});

test("S95 an exchanged token can move nothing out of the organization, or into it", async () => {
  const token = tokenOf({ who: "admin", hand: "exchanged" });
  const post = (template: string, body: object) => send({ method: "POST", template }, template, token, JSON.stringify(body));
  const statusOf = async (template: string, body: object) => (await post(template, body)).status;
  const { repos, handles, collections } = at;
  const move = (from: RepoKey, to: string) => statusOf("/api/repos/move", { fromRepo: repos[from].fullName, toRepo: `${to}/x` });
  for (const to of [handles.admin, handles.else]) expect(await move("org-private", to)).toBe(403);
  for (const from of ["admin-private", "else-private"] as const) expect(await move(from, handles.org)).toBe(404);
  const add = (to: keyof typeof collections, key: RepoKey) =>
    statusOf(`/api/collections/${collectionName(collections[to])}/items`, { item: { type: "model", id: repos[key].fullName } });
  expect(await add("org-private", "else-private")).toBe(404);
  expect(await add("else-private", "org-private")).toBe(404);
  expect(await add("own-public", "org-private")).toBe(403);
  expect(await add("org-private", "org-private")).toBe(200);
});

test("S136 no list shows resources that the requesting token cannot access", { timeout: 120_000 }, async () => {
  const lists = routesLike(/^\/api\//).filter(({ method, template }) => method === "GET" && !template.includes(":owner"));
  expect(lists.length).toBeGreaterThan(8);
  const wrong: string[] = [];
  await each(crossed(lists), async ({ attempt, route }) => {
    const { owner, fullName } = at.repos[attempt.at];
    const handle = owner.handle;
    const queries = ["", `?author=${handle}&owner=${handle}&limit=100`, "?search=private&limit=100"];
    for (const query of queries) {
      const path = fill(route.template, { name: handle, namespace: handle, username: handle }) + query;
      const { status, all } = await send(route, path, tokenOf(attempt));
      const isShown =
        all.includes(`"${fullName}"`) || all.includes(collectionName(at.collections[attempt.at as keyof typeof at.collections]));
      if (isShown || status >= 500) wrong.push(`${named(attempt, route)}${query}: ${status}`);
    }
  });
  expect(wrong).toEqual([]);
});

test("documented routes refuse an invalid token, and routes that need a token refuse a call without one", async () => {
  const document = (await (await api.request("/api/openapi.json")).json()) as {
    paths: Record<string, Record<string, { security?: object[] }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      template: path.replace(/\{(\w+)\}/g, ":$1"),
      security,
    })),
  );
  expect(routes.length).toBeGreaterThan(100);
  const { owner, name } = at.repos["own-public"];
  const wrong: string[] = [];
  await each(routes, async ({ security, ...route }) => {
    const path = fill(route.template, { owner: owner.handle, name, namespace: owner.handle, type: "models" });
    const takesToken = (security ?? []).length > 0;
    const needsToken = takesToken && !security?.some((one) => Object.keys(one).length === 0);
    const { status } = await send(route, path);
    if (needsToken && status < 300) wrong.push(`${route.method} ${route.template} without a token: ${status}`);
    if (!takesToken) return;
    const forged = await send(route, path, `kh_oauth_${"x".repeat(43)}`);
    if (forged.status < 300 || forged.status >= 500)
      wrong.push(`${route.method} ${route.template} with an invalid token: ${forged.status}`);
  });
  expect(wrong).toEqual([]);
});
