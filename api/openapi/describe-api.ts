import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { provideApiDocument } from "#core/api-document.ts";
import { isTagAmong } from "#core/http/byte-range.ts";
import { openApiDocument } from "./document.ts";

const route = createRoute({
  method: "get",
  path: "/api/openapi.json",
  summary: "This document",
  description: "OpenAPI 3.1, with this service's own addresses. Clients in many languages can be generated from it.",
  responses: {
    200: { description: "The document", content: { "application/json": { schema: z.object({}).loose() } } },
    304: { description: "It has not changed since `If-None-Match`" },
  },
});

/** Serves the document of these routes, and provides it to the pages of the reference. */
export function describeApi(api: OpenAPIHono): void {
  provideApiDocument(() => openApiDocument(api).document);
  api.openapi(route, (c) => {
    const { json, etag } = openApiDocument(api);
    // Cached, but revalidated each time: it changes with an upgrade.
    const headers = { ETag: etag, "Cache-Control": "public, no-cache" };
    if (isTagAmong(c.req.header("If-None-Match"), etag)) return c.body(null, 304, headers) as never;
    return c.body(json, 200, { ...headers, "Content-Type": "application/json" }) as never;
  });
}
