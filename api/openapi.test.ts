import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import type { ApiDocument, ApiOperation } from "#core/api-document.ts";
import { env, provideSettings } from "#core/env.ts";
import { api } from "./app.ts";
import { protocolPaths } from "./openapi/protocol.ts";

const served = await api.request("/api/openapi.json");
const document = (await served.json()) as ApiDocument;

const operations: { name: string; path: string; operation: ApiOperation }[] = Object.entries(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

const wrong = (isWrong: (operation: ApiOperation, path: string) => boolean) =>
  operations.flatMap(({ name, path, operation }) => (isWrong(operation, path) ? [name] : []));

test("the document is OpenAPI 3.1", async () => {
  expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "http://localhost:3000" }] });
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
});

test("the document describes every route under /api, and the routes of files", () => {
  const protocol = new Set(Object.keys(protocolPaths()));
  const described = operations.flatMap(({ name, path }) => (protocol.has(path) ? [] : [name]));
  const routes = api.routes
    .filter(({ method, path }) => method !== "ALL" && (path.startsWith("/api/") || /\/(resolve|raw)\//.test(path)))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{\.\+\})?/g, "{$1}").replace(/\*$/, "{path}")}`);
  expect(described.sort()).toEqual([...new Set(routes)].sort());
});

test("every reference leads to a component, and every component except WebhookPayload and errors is referenced", () => {
  const text = JSON.stringify(document);
  const refs = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
  const there = (["schemas", "responses"] as const).flatMap((kind) =>
    Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
  );
  expect([...refs].filter((ref) => !there.includes(ref as string))).toEqual([]);
  // Errors that no operation has now, and the union of all payloads, may be unused.
  const unused = there.filter((ref) => !refs.has(ref) && !ref.startsWith("#/components/responses/"));
  expect(unused).toEqual(["#/components/schemas/WebhookPayload"]);
});

describe("each operation", () => {
  test("has a name of its own, a tag, and a sentence", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(wrong(({ operationId }) => !/^[a-z][A-Za-z0-9]+$/.test(operationId ?? ""))).toEqual([]);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(wrong(({ summary }) => !summary)).toEqual([]);
    const tags = document.tags.map(({ name }) => name);
    expect(wrong((operation) => operation.tags?.length !== 1 || !tags.includes(operation.tags[0] ?? ""))).toEqual([]);
  });

  test("has every parameter of its path, each described, with an example", () => {
    const of = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = ({ parameters = [] }: ApiOperation) => parameters.flatMap((one) => (one.in === "path" ? [one.name] : []));
    expect(wrong((operation, path) => of(path).sort().join() !== inPath(operation).sort().join())).toEqual([]);
    expect(
      wrong(({ parameters = [] }) => parameters.some(({ description, example }) => !description || example === undefined)),
    ).toEqual([]);
  });

  test("documents its errors, and its scopes if it accepts a token", () => {
    expect(wrong(({ responses }) => !Object.keys(responses).some((status) => Number(status) >= 400))).toEqual([]);
    const takesToken = ({ security = [] }: ApiOperation) => security.some((one) => "bearer" in one);
    expect(wrong((operation) => takesToken(operation) && !(operation.responses[401] && operation.responses[403]))).toEqual([]);
    expect(wrong((operation) => takesToken(operation) !== (operation["x-scopes"] !== undefined))).toEqual([]);
  });

  test("has a named schema, or a list of one, as its body and response", () => {
    const bodies = ({ requestBody, responses }: ApiOperation) =>
      [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {}));
    const isInline = ({ schema = {} }: { schema?: { properties?: object; items?: { properties?: object } } }) =>
      Object.keys(schema.properties ?? schema.items?.properties ?? {}).length > 0;
    const api = wrong(
      (operation, path) => !path.startsWith("/oauth/") && !path.startsWith("/.well") && bodies(operation).some(isInline),
    );
    expect(api).toEqual([]);
  });
});

type Schema = {
  $ref?: string;
  type?: string | string[];
  maxItems?: number;
  maxProperties?: number;
  prefixItems?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};

function unbounded(schema: Schema, at: string, seen: readonly string[] = []): string[] {
  if (schema.$ref !== undefined) {
    if (seen.includes(schema.$ref)) return [];
    const name = schema.$ref.split("/").at(-1) ?? "";
    return unbounded(document.components.schemas[name] as Schema, at, [...seen, schema.$ref]);
  }
  const { additionalProperties: values } = schema;
  const isList = [schema.type].flat().includes("array");
  // In our schemas, only a record keeps unknown fields.
  const isRecord = typeof values === "object" && Object.keys(values).length > 0;
  return [
    ...(isList && schema.maxItems === undefined && schema.prefixItems === undefined ? [`${at} has no maxItems`] : []),
    ...(isRecord && schema.maxProperties === undefined ? [`${at} has no maxProperties`] : []),
    ...(schema.items ? unbounded(schema.items, `${at}[]`, seen) : []),
    ...(isRecord ? unbounded(values, `${at}.*`, seen) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => unbounded(one, `${at}.${name}`, seen)),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) => (some ?? []).flatMap((one) => unbounded(one, at, seen))),
  ];
}

test("S138 each list and each record in a request has a documented maximum", () => {
  const problems = operations.flatMap(({ name, operation }) => {
    const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema] as const);
    const parameters = (operation.parameters ?? []).map((one) => [one.name, one.schema] as const);
    return [...bodies, ...parameters].flatMap(([at, schema]) => unbounded((schema ?? {}) as Schema, `${name} ${at}`));
  });
  expect(problems).toEqual([]);
});

test("an operation lists the scopes that allow it: `webhooks` to list webhooks, one of three to commit", () => {
  const find = (id: string) => operations.find(({ operation }) => operation.operationId === id)?.operation;
  expect(find("listWebhooks")?.["x-scopes"]).toEqual(["webhooks"]);
  expect(find("listWebhooks")?.security).toEqual([{ bearer: [] }, { dpop: [] }, { oauth2: ["webhooks"] }]);
  expect(find("createModelCommit")?.["x-scopes"]?.toSorted()).toEqual(["contribute-repos", "manage-repos", "write-repos"]);
  expect(find("whoami")?.["x-scopes"]).toEqual([]);
});

test("a client that has the document gets 304, and the document contains the current ORIGIN", async () => {
  const again = await api.request("/api/openapi.json", { headers: { "if-none-match": served.headers.get("etag") ?? "" } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const { ORIGIN } = env();
  provideSettings({ ORIGIN: "https://hub.example.com" });
  const elsewhere = (await (await api.request("/api/openapi.json")).json()) as ApiDocument;
  expect(elsewhere.servers).toEqual([{ url: "https://hub.example.com" }]);
  expect(JSON.stringify(elsewhere.components.securitySchemes)).toContain('"tokenUrl":"https://hub.example.com/oauth/token"');
  provideSettings({ ORIGIN });
});
