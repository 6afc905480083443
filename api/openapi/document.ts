import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiDocument, ApiOperation } from "#core/api-document.ts";
import { env } from "#core/env.ts";
import { errorRef, errorResponses, errorStatuses } from "./errors.ts";
import { describeEvents, payloadSchemas } from "./events.ts";
import { generateSchemas, nameSchemas } from "./name-schemas.ts";
import { namedSchemas } from "./named-schemas.ts";
import { findOperation } from "./operations.ts";
import { describeParameter } from "./parameters.ts";
import { protocolPaths, protocolSchemas } from "./protocol.ts";
import { scopesFor, securitySchemes } from "./security.ts";
import { tagOf, tags } from "./tags.ts";

/** The document as served. */
export type ServedDocument = { document: ApiDocument; json: string; etag: string };

/** The version of the interface: increased when something is removed, which would break existing clients. */
const VERSION = "1";

const made = new WeakMap<OpenAPIHono, ServedDocument & { origin: string }>();

/**
 * The OpenAPI 3.1 document of these routes: their own definitions, with names, tags, scopes and errors from the tables beside this file,
 * the endpoints of the protocol, and the payloads for receivers of webhooks. Generated at the first request (about 150 ms), and cached.
 */
export function openApiDocument(api: OpenAPIHono): ServedDocument {
  const { ORIGIN } = env();
  const kept = made.get(api);
  // Only tests change their origin.
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
  // The generator shares objects between operations that share a definition.
  const paths = structuredClone(described.paths ?? {}) as ApiDocument["paths"];
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) operations[method] = describeOperation(method, path, operation);
  }
  const schemas = nameSchemas(paths, generateSchemas(namedSchemas));
  const all = { ...paths, ...protocolPaths() };
  const used = new Set(Object.values(all).flatMap((one) => Object.values(one).flatMap((operation) => operation.tags ?? [])));
  return {
    openapi: "3.1.0",
    info: {
      title: `${BRAND_NAME} API`,
      version: VERSION,
      description: `Sign-in, tokens, webhooks, jobs and repositories of ${BRAND_NAME} for programs. Guides: ${ORIGIN}/docs.`,
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

/** The route's own definition, and what follows from its URL, its body and its action. */
function describeOperation(method: string, path: string, operation: ApiOperation): ApiOperation {
  const found = findOperation(method, path);
  const { summary, description, security = [], requestBody, responses } = operation;
  // Routes under two URLs share their parameters, of which one URL may have fewer.
  const parameters = operation.parameters?.filter((one) => one.in !== "path" || path.includes(`{${one.name}}`));
  const operationId = operation.operationId ?? found?.operationId;
  const scopes = operation["x-scopes"] ?? scopesFor(found?.actions ?? []);
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
    ...(operationId && { operationId }),
    tags: operation.tags ?? [tagOf(path)],
    ...(summary && { summary }),
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
