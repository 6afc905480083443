import { scopes } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiDocument, ApiOperation, ApiSchema } from "#core/api-document.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { webhookTo } from "#core/webhooks/testing/deliveries.ts";
import { api } from "./app.ts";
import { protocolPaths } from "./openapi/protocol.ts";
import { type Caller, fileLine, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** S51, S138: sends nonsense as a user who may do everything. The response is never a 5xx or an undocumented status. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
let values: Record<string, string>;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await someCaller(...scopes);
  const repo = await someRepo(ada, { type: "model" });
  const base = `/api/models/${repo.fullName}`;
  await send("POST", `${base}/commit/main`, ndjson(header(), fileLine("a.txt")), "application/x-ndjson");
  await send("POST", `${base}/discussions`, JSON.stringify({ title: "Tides" }));
  const job = await send("POST", `/api/jobs/${ada.username}`, JSON.stringify({ dockerImage: "debian:12", flavor: "cpu-basic" }));
  const collection = await send("POST", "/api/collections", JSON.stringify({ title: "Rivers" }));
  values = {
    ...{
      owner: ada.username,
      namespace: ada.username,
      name: repo.fullName.split("/")[1] ?? "",
      type: "models",
      status: "pending",
    },
    ...{ rev: "main", branch: "main", tag: "v1", path: "a.txt", range: "main..main", num: "1" },
    id: await webhookTo({ url: "https://hooks.example.com/", ownerId: ada.id }),
    jobId: JSON.parse(job.text).id,
    slug: JSON.parse(collection.text).slug.split("/")[1],
  };
});
afterAll(() => world.stop());

async function send(method: string, path: string, body?: string, type = "application/json") {
  const leave = new AbortController();
  const response = await fetch(world.origin + path, {
    method,
    redirect: "manual",
    headers: { authorization: `Bearer ${ada.accessToken}`, ...(body !== undefined && { "content-type": type }) },
    ...(body !== undefined && { body }),
    signal: leave.signal,
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? "" : await response.text();
  if (isStream) leave.abort();
  return { status: response.status, text };
}

const nonsense: unknown[] = [
  ...[7, -1, 1e300, true, null, [], {}, [[]], { $ne: 1 }, "", " ", "\0", "a\0b", "\ud800", "../..", "💥"],
  ...["x".repeat(60_000), "__proto__", "'; DROP TABLE repo; --", [null, 7, "\0"], { "a\0": "b" }],
];

const deep = "[".repeat(20_000) + "]".repeat(20_000);
const bodies = [
  "",
  "{",
  "[]",
  '"x"',
  "null",
  "7",
  "{}",
  deep,
  `{"__proto__":{"a":1}}`,
  JSON.stringify({ name: "x".repeat(1024 * 1024) }),
];

function* badBodies(document: ApiDocument, operation: ApiOperation, turn: number): Generator<[body: string, type: string]> {
  const [found] = Object.entries(operation.requestBody?.content ?? {});
  if (!found) return;
  const [type, { schema }] = found;
  for (const step of [0, 3, 5, 8]) yield [bodies[(turn + step) % bodies.length] ?? "", type];
  const properties = Object.entries(resolve(document, schema).properties ?? {});
  const whole = Object.fromEntries(properties.map(([name, one]) => [name, plain(resolve(document, one))]));
  for (const [at, [name]] of properties.entries()) {
    for (const step of [0, 11]) {
      yield [JSON.stringify({ ...whole, [name]: nonsense[(turn + at + step) % nonsense.length] }), type];
    }
  }
}

const resolve = (document: ApiDocument, schema: ApiSchema = {}): ApiSchema => {
  const one = schema.anyOf?.[0] ?? schema;
  return one.$ref ? resolve(document, document.components.schemas[one.$ref.split("/").at(-1) ?? ""]) : one;
};

function plain({ type, enum: choices }: ApiSchema): unknown {
  const [kind] = [type].flat();
  if (choices) return choices[0];
  return { string: "x", integer: 1, number: 1, boolean: false, array: [], object: {} }[kind ?? "string"] ?? null;
}

const oddSegments = ["%00", "%2e%2e", "x".repeat(3_000), "%F0%9F%92%A5", "%ED%A0%80", "-1", "null"];
const oddValues = ["%00", "", "-1", "1e999", "x".repeat(3_000), "%F0%9F%92%A5", "NaN", "2026-99-99T00:00:00Z"];

function* badAddresses(path: string, { parameters = [] }: ApiOperation, turn: number): Generator<string> {
  const fine = fill(path, {});
  for (const step of [0, 2, 5]) {
    const bad = oddSegments[(turn + step) % oddSegments.length] ?? "";
    for (const one of parameters.filter((each) => each.in === "path").slice(-1)) yield fill(path, { [one.name]: bad });
  }
  const query = parameters.filter((each) => each.in === "query");
  for (const step of [0, 3, 6]) {
    const bad = oddValues[(turn + step) % oddValues.length];
    if (query.length > 0) yield `${fine}?${query.map(({ name }) => `${encodeURIComponent(name)}=${bad}`).join("&")}`;
  }
  for (const { name } of query.slice(0, 2)) yield `${fine}?${name}=7&${name}=x&${name}[a]=b`;
}

const fill = (path: string, others: Record<string, string>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => others[name] ?? values[name] ?? "a".repeat(24));

async function each<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

test("S51 S138 no invalid request gets a 5xx or a status that the OpenAPI document lacks", { timeout: 300_000 }, async () => {
  const document = (await (await api.request("/api/openapi.json")).json()) as ApiDocument;
  const protocol = protocolPaths();
  const operations = Object.entries(document.paths)
    .filter(
      ([path]) =>
        !protocol[path] &&
        !/^(\/api)?\/(datasets|spaces)\/\{owner\}\/\{name\}\/(?!runtime|host|restart|pause|sleep|logs|var|sec)/.test(path),
    )
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    )
    .sort((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"));
  const wrong: string[] = [];
  let sent = 0;
  await each(operations.entries(), async ([turn, { path, method, operation }]) => {
    const note = async (address: string, body?: string, type?: string) => {
      // The service closes the connection after a body that is too large. The next request on this connection fails too.
      const again = () => send(method, address, body, type);
      const { status, text } = await again()
        .catch(again)
        .catch((cause: unknown) => {
          if ((body?.length ?? 0) > 50_000) return { status: 413, text: "" };
          throw new Error(`${method} ${address} got no response`, { cause });
        });
      sent++;
      // No worker delivers here, so a valid test delivery ends with the documented error.
      const isUnsent = status === 503 && text.includes("was not sent in time");
      if (status >= 500 && !isUnsent)
        wrong.push(`${method} ${address.slice(0, 120)} ${body?.slice(0, 120)}: ${status} ${text.slice(0, 120)}`);
    };
    for (const address of badAddresses(path, operation, turn)) await note(address, operation.requestBody && "{}");
    for (const [body, type] of badBodies(document, operation, turn)) await note(fill(path, {}), body, type);
  });
  expect(wrong).toEqual([]);
  expect(sent).toBeGreaterThan(700);
});
