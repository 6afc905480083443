import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { apiSegments, repoPath, repoTypes, scopes } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { from, organizationOf } from "#core/accounts/testing/people.ts";
import type { ApiDocument } from "#core/api-document.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { createPlatform } from "#core/hub/platforms/manage-platforms.ts";
import { listen } from "#core/notifications.ts";
import { findRelayByToken, takeRequest } from "#core/relay/inbox/take-request.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { queueDeliveries } from "#core/webhooks/testing/deliveries.ts";
import { DELIVERY_CHANNEL } from "#core/webhooks/vocabulary.ts";
import { api } from "./app.ts";
import { protocolPaths } from "./openapi/protocol.ts";
import { type Caller, fileLine, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** Calls each operation of the OpenAPI document at least once. The last test finds operations that were not called. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
let member: Caller;
let organization: { id: string; name: string };
beforeAll(async () => {
  world = await startApiWorld();
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  ada = await someCaller(...scopes);
  member = await someCaller("read-repos");
  organization = await organizationOf(ada, [[member, "read"]]);
  await db().organization.update({ where: { id: organization.id }, data: { plan: "enterprise" } });
});
afterAll(() => world.stop());

type Sent = { token?: string; type?: string; status?: number };

// biome-ignore lint/suspicious/noExplicitAny: the response was checked against the document
async function ask(method: string, path: string, body?: unknown, { token, type, status }: Sent = {}): Promise<any> {
  const leave = new AbortController();
  const response = await fetch(world.origin + path, {
    method,
    headers: {
      authorization: `Bearer ${token ?? ada.accessToken}`,
      ...(body !== undefined && { "content-type": type ?? "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: leave.signal,
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? "" : await response.text();
  if (isStream) leave.abort();
  expect({ status: response.status, text }, `${method} ${path}`).toMatchObject({ status: status ?? expect.closeTo(201, -1) });
  return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

test("calls whoami and the lists", async () => {
  for (const path of ["openapi.json", "whoami-v2", "agent-harnesses", "models", "datasets", "spaces", "settings/repositories"])
    await ask("GET", `/api/${path}`);
  for (const segment of ["models", "datasets", "spaces"]) await ask("GET", `/api/${segment}-tags-by-type`);
  const settings = `/api/organizations/${organization.name}/settings`;
  await ask("PUT", settings, await ask("GET", settings));
  await ask("POST", "/api/validate-yaml", { content: "---\nlicense: mit\n---\n", repoType: "model" });
});

test.each(repoTypes)("calls the operations of a %s, from its creation to its deletion", { timeout: 120_000 }, async (type) => {
  const segment = apiSegments[type];
  const name = `tide-${type}`;
  const repo = `${ada.username}/${name}`;
  const base = `/api/${segment}/${repo}`;
  await ask("POST", "/api/repos/create", { name: `${name}-before`, type, ...(type === "space" && { sdk: "static" }) });
  await ask("POST", "/api/repos/move", { fromRepo: `${ada.username}/${name}-before`, toRepo: repo, type });
  for (const right of ["read", "write"]) await ask("GET", `${base}/xet-${right}-token/main`);
  await ask("POST", `${base}/preupload/main`, { files: [{ path: "a.txt", size: 1, sample: "YQ==" }] });
  await ask("POST", `${base}/commit/main`, ndjson(header(), fileLine("a.txt"), fileLine("b/c.txt")), {
    type: "application/x-ndjson",
  });
  const { sha } = await ask("GET", base);
  for (const path of ["/revision/main", "/tree/main", "/commits/main", "/refs?include_prs=1", `/compare/${sha}..main`]) {
    await ask("GET", base + path);
  }
  await ask("POST", `${base}/paths-info/main`, { paths: ["a.txt"], expand: true });
  for (const access of ["/auth-check", "/auth-check/write"]) await ask("GET", base + access);
  for (const how of ["resolve", "raw"]) await ask("GET", `${repoPath(type, repo)}/${how}/main/a.txt`);
  for (const method of ["PUT", "POST"]) await ask(method, `${base}/settings`, { gated: "auto" });
  await ask("POST", `${base}/branch/draft`, {});
  await ask("POST", `${base}/super-squash/draft`, { message: "One commit" });
  await ask("DELETE", `${base}/branch/draft`);
  await ask("POST", `${base}/tag/main`, { tag: "v1" });
  await ask("DELETE", `${base}/tag/v1`);
  for (const method of ["POST", "DELETE"]) await ask(method, `${base}/like`);
  await ask("GET", `${base}/likers`);
  await ask("POST", `${base}/duplicate`, { repository: `${ada.username}/${name}-copy` });
  await ask("GET", `${base}/lfs-files`);
  await ask("POST", `${base}/lfs-files/batch`, { deletions: { sha: ["a".repeat(64)] } });
  const files = [{ sha256: "a".repeat(64) }];
  await ask("POST", `${base}/lfs-files/duplicate`, { target: { type, name: `${ada.username}/${name}-copy` }, files });
  await discuss(base);
  await ask("DELETE", "/api/repos/delete", { name, type });
});

async function discuss(base: string): Promise<void> {
  const { num } = await ask("POST", `${base}/discussions`, { title: "Tides", description: "High." });
  const at = `${base}/discussions/${num}`;
  await ask("GET", `${base}/discussions`);
  const { newMessage } = await ask("POST", `${at}/comment`, { comment: "Higher." });
  const comment = `${at}/comment/${newMessage.id}`;
  await ask("POST", `${comment}/edit`, { content: "Highest." });
  await ask("POST", `${comment}/reaction`, { reaction: "👍" });
  await ask("DELETE", `${comment}/reaction`, { reaction: "👍" });
  await ask("POST", `${comment}/hide`);
  await ask("DELETE", comment);
  await ask("POST", `${at}/title`, { title: "Tides and times" });
  await ask("POST", `${at}/pin`, { pinned: true });
  await ask("POST", `${at}/lock`, { locked: true });
  await ask("POST", `${at}/status`, { status: "closed", comment: "Done." });
  await ask("GET", at);
  await ask("DELETE", at);
  const commit = ndjson(header(), fileLine("d.txt"));
  const made = await ask("POST", `${base}/commit/main?create_pr=1`, commit, { type: "application/x-ndjson" });
  const pull = `${base}/discussions/${made.pullRequestUrl.split("/").at(-1)}`;
  await ask("GET", `${pull}?diff=1`);
  await ask("POST", `${pull}/merge`, {});
  await ask("DELETE", `${pull}/ref`);
}

test("calls the operations of a Space's app", async () => {
  const { name } = await ask("POST", "/api/repos/create", { name: "gauge", type: "space", sdk: "docker" });
  const card = "---\nsdk: docker\napp_file: app.js\n---\n# Gauge\n";
  const files = ndjson(
    header(),
    { key: "file", value: { path: "README.md", content: card, encoding: "utf-8" } },
    fileLine("Dockerfile"),
  );
  const base = `/api/spaces/${name}`;
  await ask("POST", `${base}/commit/main`, files, { type: "application/x-ndjson" });
  for (const path of ["runtime", "host", "logs/run", "variables", "secrets"]) await ask("GET", `${base}/${path}`);
  for (const kind of ["variables", "secrets"]) {
    await ask("POST", `${base}/${kind}`, { key: "PORT_NAME", value: "brest" });
    await ask("DELETE", `${base}/${kind}`, { key: "PORT_NAME" });
  }
  await ask("POST", `${base}/sleeptime`, { seconds: 3_600 });
  for (const control of ["pause", "restart"]) await ask("POST", `${base}/${control}`);
});

test("calls the operations of a gated repository", async () => {
  const { name } = await ask("POST", "/api/repos/create", { name: "gated", type: "dataset" });
  await ask("PUT", `/api/datasets/${name}/settings`, { gated: "manual" });
  const grace = await someCaller("gated-repos");
  const base = `/api/datasets/${name}/user-access-request`;
  await ask("POST", `${base}/grant`, { user: grace.username });
  await ask("GET", `${base}/accepted`);
  await ask("POST", `${base}/handle`, { user: grace.username, status: "rejected" });
  await ask("POST", `${base}/handle`, { user: grace.username, status: "accepted" });
  await ask("POST", `${base}/cancel`, undefined, { token: grace.accessToken });
});

test("calls the operations of collections", async () => {
  const { name } = await ask("POST", "/api/repos/create", { name: "collected", type: "model" });
  const { slug } = await ask("POST", "/api/collections", { title: "River data" });
  await ask("GET", "/api/collections");
  await ask("PATCH", `/api/collections/${slug}`, { description: "Of every river" });
  const added = await ask("POST", `/api/collections/${slug}/items`, { item: { type: "model", id: name }, note: "First" });
  const [item] = added.items;
  await ask("GET", `/api/collections/${slug}`);
  await ask("PATCH", `/api/collections/${slug}/items/${item._id}`, { note: "Still first" });
  await ask("DELETE", `/api/collections/${slug}/items/${item._id}`);
  await ask("DELETE", `/api/collections/${slug}`);
});

test("calls the operations of users, organizations and tokens", async () => {
  await ask("GET", `/api/users/${ada.username}/likes`);
  for (const what of ["overview", "avatar"]) {
    await ask("GET", `/api/users/${ada.username}/${what}`);
    await ask("GET", `/api/organizations/${organization.name}/${what}`);
  }
  await ask("GET", `/api/organizations/${organization.name}/members`);
  await ask("GET", `/api/organizations/${organization.name}/audit-log/export?format=json`);
  const tokens = `/api/organizations/${organization.name}/settings/tokens`;
  const id = (await db().personalAccessToken.findFirstOrThrow({ where: { userId: member.id } })).id;
  await ask("POST", `${tokens}/revoke`, { token: member.accessToken });
  await ask("POST", `${tokens}/${id}/revoke`);
  await ask("POST", "/api/credentials/revoke", { credentials: ["kh_unknown"] });
});

test("calls the operations of a platform", async () => {
  const { token } = await createPlatform(operatorCommand, { name: "Forge", source: "https://forge.example" }, from);
  const told = {
    type: "dataset",
    name: `${ada.username}/mirrored`,
    id: 7,
    private: false,
    url: "https://forge.example/ada/mirrored",
  };
  await ask("POST", "/api/repos/sync", { repos: [told] }, { token });
  const type = "application/cloudevents+json";
  const event = { specversion: "1.0", id: "1", source: "https://forge.example", type: "forge.nonsense", data: {} };
  await ask("POST", "/api/events", event, { token, type, status: 400 });
  const batch = await ask("POST", "/api/events", [event], { token, type: "application/cloudevents-batch+json" });
  expect(batch.results).toMatchObject([{ status: "failed" }]);
});

test("calls the operations of jobs and schedules", async () => {
  await ask("GET", "/api/jobs/hardware");
  const jobs = `/api/jobs/${ada.username}`;
  const spec = { dockerImage: "debian:12", command: ["true"], flavor: "cpu-basic" };
  const { id } = await ask("POST", jobs, spec);
  for (const path of ["", "/count", `/${id}`, `/${id}/events`]) await ask("GET", jobs + path);
  await ask("PUT", `${jobs}/${id}/labels`, { labels: { team: "rivers" } });
  await ask("POST", `${jobs}/${id}/duplicate`);
  await ask("POST", `${jobs}/${id}/cancel`);
  await ask("GET", `${jobs}/${id}/logs`);
  await ask("PUT", `${jobs}/${id}/expose`, undefined, { status: 400 });
  await ask("GET", `${jobs}/${id}/metrics`, undefined, { status: 400 });

  const scheduled = `/api/scheduled-jobs/${ada.username}`;
  const made = await ask("POST", scheduled, { jobSpec: spec, schedule: "@daily" });
  const one = `${scheduled}/${made.id}`;
  for (const path of [scheduled, one]) await ask("GET", path);
  for (const act of ["suspend", "resume", "run"]) await ask("POST", `${one}/${act}`);
  await ask("POST", `${one}/schedule`, { schedule: "0 6 * * *", timezone: "Europe/Paris" });
  await ask("PUT", `${one}/labels`, { labels: {} });
  await ask("DELETE", one);
});

test.each(["own", "organization's"])("calls the operations of OAuth apps: %s", async (whose) => {
  const base = whose === "own" ? "/api/settings/apps" : `/api/organizations/${organization.name}/settings/apps`;
  const { app } = await ask("POST", base, {
    name: "Tide tables",
    redirectUris: ["https://app.example.com/cb"],
    scopes: ["openid"],
  });
  for (const path of [base, `${base}/${app.id}`]) await ask("GET", path);
  await ask("POST", `${base}/${app.id}`, { description: "Of twelve ports" });
  await ask("POST", `${base}/${app.id}/rotate-secret`, {}, { status: 403 });
  await ask("DELETE", `${base}/${app.id}`, undefined, { status: 403 });
});

test("calls the operations of a relay, and those of its listener", async () => {
  const base = "/api/settings/relays";
  const { relay } = await ask("PUT", `${base}/laptop`);
  for (const path of [base, `${base}/laptop`]) await ask("GET", path);
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const headers = { authorization: `Bearer ${ada.accessToken}` };
  const listener = await fetch(`${world.origin}${base}/laptop/requests`, { headers, signal: leave.signal });
  const found = await findRelayByToken(new URL(relay.url).pathname.split("/")[2] ?? "");
  const taken = { method: "GET", path: "/", headers: [], body: new Uint8Array() };
  const { id } = (await takeRequest(found?.id ?? "", taken)) ?? {};
  let heard = "";
  for await (const piece of listener.body ?? []) {
    heard += new TextDecoder().decode(piece);
    if (heard.includes(id ?? "nothing")) break;
  }
  await ask("POST", `${base}/laptop/requests/${id}/answer`, { status: 204, headers: [], bodyBase64: "" });
  leave.abort();
  await ask("DELETE", `${base}/laptop`);
});

test.each(["own", "organization's"])("calls the operations of webhooks: %s", async (whose) => {
  const base = whose === "own" ? "/api/settings/webhooks" : `/api/organizations/${organization.name}/settings/webhooks`;
  const receiver = http.createServer((req, res) => req.resume().on("end", () => res.end("ok"))).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  onTestFinished(async () => {
    await engine.stop();
    receiver.closeAllConnections();
    receiver.close();
  });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { webhook } = await ask("POST", base, { url, watched: [{ type: "user", name: ada.username }], generateSecret: true });
  const one = `${base}/${webhook.id}`;
  for (const path of [base, one, `${one}/deliveries/live`, `${one}/chart`]) await ask("GET", path);
  await ask("POST", one, { domains: ["repo"] });
  for (const act of ["disable", "enable", "rotate-secret"]) await ask("POST", `${one}/${act}`);
  const { delivery } = await ask("POST", `${one}/test`, { kind: "repo.create" });
  await ask("GET", `${one}/deliveries`);
  await ask("GET", `${one}/deliveries/${delivery}`);
  const [queued] = await queueDeliveries(webhook.id);
  await ask("POST", `${one}/replay/${queued}`);
  const { replay } = await ask("POST", `${one}/replays`, { deliveries: [queued] });
  await ask("GET", `${one}/replays`);
  await ask("GET", `${one}/replays/${replay.id}`);
  await ask("POST", `${one}/replays/${replay.id}/cancel`);
  await ask("DELETE", one);
});

const signIn = "requires a recent sign-in: apps.test.ts";
const exceptions: Record<string, string> = {
  ...{ rotateAppSecret: signIn, rotateOrganizationAppSecret: signIn, deleteApp: signIn, deleteOrganizationApp: signIn },
  exposeJob: "is always refused",
  followJobMetrics: "is always refused",
};

test("every operation of the document was called above, belongs to the protocol or is an exception", async () => {
  const { paths } = (await (await api.request("/api/openapi.json")).json()) as ApiDocument;
  const protocol = protocolPaths();
  const answered = new Set([...world.answered()].map((one) => one.split(" ")[0]));
  const missing = Object.entries(paths)
    .filter(([path]) => !protocol[path])
    .flatMap(([, operations]) => Object.values(operations).map(({ operationId = "" }) => operationId))
    .filter((id) => !answered.has(id) && !exceptions[id]);
  expect(missing).toEqual([]);
});
