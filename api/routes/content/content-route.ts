import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { isOnBranch } from "#core/hub/git/read/revision.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import type { Route } from "../../define-route.ts";
import { families, type Operation, operationOf } from "../../openapi/operation.ts";
import { takesBody } from "../../refuse-bad-input.ts";

/** A commit that is on no branch or tag may come from anybody's pull request. */
export const notOnBranch = { "X-Repo-Commit-On-Branch": "false" } as const;

export async function addOnBranchHeader(c: Context, ...asked: Parameters<typeof isOnBranch>): Promise<void> {
  if (await isOnBranch(...asked)) return;
  for (const [name, value] of Object.entries(notOnBranch)) c.header(name, value);
}

type ContentRoute = Pick<Operation, "operationId" | "action" | "summary"> & {
  query?: z.ZodObject;
  body?: z.ZodType;
  maxBodyBytes?: number;
  answer: z.ZodType | "text";
  handle(request: { c: Context; repo: RepoName; segments: string[] }): Promise<Response>;
};

/**
 * `query` and `body` are only documented. The handler parses them, because existing clients encode values in several ways.
 * @param line method and path after the repository's name. `{path}` is optional, and `{rev}*` accepts unencoded slashes
 */
export function defineContentRoute(
  line: `${"GET" | "POST"} ${string}`,
  { query, body, maxBodyBytes = SMALL_BODY_BYTES, answer, handle, ...operation }: ContentRoute,
): Route {
  const [method = "", rest = ""] = line.split(" ");
  const pattern = rest
    .replace("{path}", "*")
    .replace("}*", "}{.+}")
    .replaceAll(/\{(\w+)\}/g, ":$1");
  const named = [...rest.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = z.object(Object.fromEntries(["owner", "name", ...named].map((name) => [name, z.string()])));
  const content = answer === "text" ? { "text/plain": { schema: z.string() } } : { "application/json": { schema: answer } };
  return (api) => {
    for (const address of families.TYPES) {
      const limit = takesBody({ maxBytes: maxBodyBytes, takesTokenOf: "anybody" });
      api.on(method, `/api/${address.path}/:owner/:name${pattern}`, limit, (c) => {
        const [, , , owner = "", name = "", ...segments] = segmentsOf(c);
        return handle({ c, repo: { type: address.type, owner, name }, segments });
      });
      api.openAPIRegistry.registerPath({
        method: method.toLowerCase() as "get",
        path: `/api/${address.path}/{owner}/{name}${rest.replace("*", "")}`,
        ...operationOf({ ...operation, actor: "anyone" }, address),
        request: {
          params,
          ...(query && { query }),
          ...(body && { body: { content: { "application/json": { schema: body } } } }),
        },
        responses: { 200: { description: operation.summary, content } },
      });
    }
  };
}

/** An encoded slash stays inside its segment. @throws ServiceError `invalid_request` if the path is not UTF-8 */
export function segmentsOf(c: Context): string[] {
  const { pathname } = new URL(c.req.url);
  try {
    return pathname.split("/").map(decodeURIComponent);
  } catch (cause) {
    throw new ServiceError("invalid_request", "The URL is not valid UTF-8.", { cause });
  }
}

/** Python clients send `True`. */
export const isTrue = (value: unknown): boolean => /^(true|1)$/i.test(String(value));
