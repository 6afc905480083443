import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import type { MiddlewareHandler } from "hono";
import { type ErrorCode, ServiceError } from "#core/errors.ts";
import { SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { requireHolder } from "../bearer.ts";

/**
 * A set of routes. Input that does not match its schema fails like everything else, with the name of what is wrong
 * (docs/specification/errors-and-limits.md#error-body).
 */
export function openApiRoutes(): OpenAPIHono {
  const routes = new OpenAPIHono({
    defaultHook(result) {
      if (result.success) return;
      const [issue] = result.error.issues;
      const field = issue?.path.join(".") ?? "";
      throw new ServiceError("invalid_request", `${field || "The body"}: ${issue?.message ?? "not understood"}.`, { field });
    },
  });
  const { openapi } = routes;
  const withTokenFirst = (route: RouteConfig & { middleware?: MiddlewareHandler | MiddlewareHandler[] }, ...rest: unknown[]) =>
    Reflect.apply(openapi, routes, [
      takesTokenAndBody(route) ? { ...route, middleware: [tokenFirst, ...[route.middleware ?? []].flat()] } : route,
      ...rest,
    ]);
  routes.openapi = withTokenFirst as typeof openapi;
  return routes;
}

const takesTokenAndBody = ({ security, request }: RouteConfig): boolean => security === withToken && request?.body !== undefined;

/** Without a token no body is parsed and validated (S138). The route itself checks what the caller may do. */
const tokenFirst: MiddlewareHandler = async (c, next) => {
  await requireHolder(c).catch(async (error: unknown) => {
    // A body that is not read would cost the client its connection. Larger ones were rejected before this.
    if (Number(c.req.header("Content-Length") ?? 0) <= SMALL_BODY_BYTES) await c.req.arrayBuffer();
    throw error;
  });
  await next();
};

/**
 * A list in a request, of at most `max`. Zod's own `max` is checked after each element, with an issue for every wrong one: a few megabytes
 * of wrong elements then block the event loop for seconds (S138).
 * @throws ServiceError `code` if it is longer, from within the parser
 */
export function listOf<Item extends z.ZodType>(
  item: Item,
  { max, of, code = "payload_too_large" }: { max: number; of: string; code?: ErrorCode },
) {
  return z.preprocess((value) => {
    if (!Array.isArray(value) || value.length <= max) return value;
    throw new ServiceError(code, `Send at most ${max} ${of} at once.`);
  }, z.array(item).max(max));
}

/** For the `responses` of a route that stores something in a repository. */
export const storageFull = {
  507: {
    description:
      "`storage_full`: the owner's repositories take as much room as they may. The sentence says how much, and what to do.",
    content: { "application/json": { schema: errorBodySchema } },
  },
};

/** `security` of a route that requires a token. */
export const withToken: Record<string, string[]>[] = [{ bearer: [] }, { dpop: [] }];

/** `security` of a route that shows public things to everybody, and more with a token. */
export const withOrWithoutToken: Record<string, string[]>[] = [{}, ...withToken];
