import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { env } from "#core/env.ts";

export const pageNumber = (most = Number.MAX_SAFE_INTEGER) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(most)
    .default(1)
    .openapi({ description: "The page number, from 1. The `Link` header has the next page's URL." });

export function linkNextPage(c: Context, parameters: Record<string, string | number>): void {
  const url = new URL(c.req.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  // Behind a proxy that terminates TLS, the URL's own origin begins with `http:`.
  c.header("Link", `<${env().ORIGIN}${url.pathname}${url.search}>; rel="next"`);
}
