import { OpenAPIHono } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";

/**
 * A set of routes. Input that is not what its schema says ends as every other failure does, with the name of what is wrong
 * (wire.md choice 10).
 */
export function openApiRoutes(): OpenAPIHono {
  return new OpenAPIHono({
    defaultHook(result) {
      if (result.success) return;
      const [issue] = result.error.issues;
      const field = issue?.path.join(".") ?? "";
      throw new ServiceError("invalid_request", `${field || "The body"}: ${issue?.message ?? "not understood"}.`, { field });
    },
  });
}

/** Of the `responses` of a route that stores something in a repository. */
export const storageFull = {
  507: {
    description:
      "`storage_full`: the owner's repositories take as much room as they may. The sentence says how much, and what to do.",
    content: { "application/json": { schema: errorBodySchema } },
  },
};

/** `security` of a route that takes a token. */
export const withToken: Record<string, string[]>[] = [{ bearer: [] }, { dpop: [] }];

/** `security` of a route that shows what is public to everybody, and more to whoever sends a token. */
export const withOrWithoutToken: Record<string, string[]>[] = [{}, ...withToken];
