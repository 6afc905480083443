import { createHash } from "node:crypto";
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type ApiDocument, type ApiOperation, provideApiDocument } from "#core/api-document.ts";
import { env } from "#core/env.ts";
import { matchesEtag } from "#core/http/byte-range.ts";
import { defineRoute, json, type Route } from "../define-route.ts";
import { errorRef, errorResponses, errorStatuses } from "./errors.ts";
import { describeEvents, payloadSchemas } from "./events.ts";
import { generateSchemas, namedSchemas, nameSchemas } from "./named-schemas.ts";
import type { operationOf } from "./operation.ts";
import { describeParameter } from "./parameters.ts";
import { protocolPaths } from "./protocol.ts";
import { protocolSchemas } from "./protocol-schemas.ts";
import { securitySchemes } from "./security.ts";
import { tagOf, tags } from "./tags.ts";

type ServedDocument = { document: ApiDocument; json: string; etag: string };

/** Increased only when something is removed, because that breaks clients. */
const VERSION = "1";

type DefinedOperation = ApiOperation & ReturnType<typeof operationOf>;

export const describeApi: Route = (api) => {
  provideApiDocument(() => openApiDocument(api).document);
  defineRoute("GET /api/openapi.json", {
    operationId: "getOpenApiDocument",
    summary: "This document",
    description: "An OpenAPI 3.1 document with the URLs of this service. Use it to generate a client in your language.",
    responses: {
      200: json("The document", z.object({}).loose()),
      304: { description: "The document still matches the ETag in `If-None-Match`" },
    },
    handle({ c }) {
      const { json, etag } = openApiDocument(api);
      const headers = { ETag: etag, "Cache-Control": "public, no-cache" };
      if (matchesEtag(c.req.header("If-None-Match"), etag)) return c.body(null, 304, headers);
      return c.body(json, 200, { ...headers, "Content-Type": "application/json" });
    },
  })(api);
};

const made = new WeakMap<OpenAPIHono, ServedDocument & { origin: string }>();

export function openApiDocument(api: OpenAPIHono): ServedDocument {
  const { ORIGIN } = env();
  const kept = made.get(api);
  // Only tests change ORIGIN during a process.
  if (kept?.origin === ORIGIN) return kept;
  const document = makeDocument(api);
  const json = JSON.stringify(document);
  const fresh = { document, json, etag: `"${createHash("sha256").update(json).digest("base64url")}"`, origin: ORIGIN };
  made.set(api, fresh);
  return fresh;
}

function makeDocument(api: OpenAPIHono): ApiDocument {
  const { ORIGIN, BRAND_NAME } = env();
  const described = api.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "", version: "" } });
  // Operations of one definition share objects, which must be changed separately.
  const defined = structuredClone(described.paths ?? {}) as Record<string, Record<string, DefinedOperation>>;
  const families: Record<string, string> = {};
  const paths: ApiDocument["paths"] = {};
  for (const [path, operations] of Object.entries(defined)) {
    paths[path] = {};
    for (const [method, operation] of Object.entries(operations)) {
      families[operation.operationId] = operation["x-family"];
      paths[path][method] = describeOperation(method, path, operation);
    }
  }
  const schemas = nameSchemas(paths, families, generateSchemas(namedSchemas));
  const all = { ...paths, ...protocolPaths() };
  const used = new Set(Object.values(all).flatMap((one) => Object.values(one).flatMap((operation) => operation.tags ?? [])));
  return {
    openapi: "3.1.0",
    info: {
      title: `${BRAND_NAME} API`,
      version: VERSION,
      description: `The API of ${BRAND_NAME}: sign-in, tokens, webhooks, jobs and repositories. Guides: ${ORIGIN}/docs.`,
      ...{ contact: { name: BRAND_NAME, url: ORIGIN } },
    },
    servers: [{ url: ORIGIN }],
    ...{ externalDocs: { description: "Guides and the reference", url: `${ORIGIN}/docs` } },
    tags: tags.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description })),
    paths: all,
    webhooks: describeEvents(),
    components: {
      securitySchemes: securitySchemes(),
      responses: errorResponses(),
      schemas: sorted({ ...schemas, ...protocolSchemas, ...payloadSchemas }),
    },
  };
}

function describeOperation(method: string, path: string, operation: DefinedOperation): ApiOperation {
  const { operationId, summary, description, security = [], parameters, requestBody, responses } = operation;
  const scopes = operation["x-scopes"];
  const takesToken = security.length > 0;
  const statuses = errorStatuses({
    takesToken,
    takesScope: scopes.length > 0,
    namesSomething: path.includes("{"),
    isOfRepo: path.includes("{owner}/{name}"),
    changes: method !== "get",
    hasBody: requestBody !== undefined,
  });
  const shared = Object.fromEntries(statuses.map((status) => [status, errorRef(status)]));
  return {
    operationId,
    tags: [tagOf(path)],
    summary,
    ...(description && { description }),
    security: [...security, ...(takesToken ? scopes.map((scope) => ({ oauth2: [scope] })) : [])],
    ...(takesToken && { "x-scopes": scopes }),
    ...(parameters?.length && { parameters: parameters.map((one) => describeParameter(one, path)) }),
    ...(requestBody && { requestBody }),
    responses: { ...shared, ...responses },
  };
}

const sorted = <T>(items: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(items).sort(([one], [other]) => (one < other ? -1 : 1)));
