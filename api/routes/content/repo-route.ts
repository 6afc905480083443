import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { isOnBranch } from "#core/hub/git/read/is-on-branch.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { withOrWithoutToken } from "../open-api.ts";
import { repoAddresses } from "../repos/repo-address.ts";

/**
 * Header of a response that shows a commit, requested by its SHA, which is on no branch or tag: anybody who may open a pull request can
 * have pushed it, and it must not pass for the owner's.
 */
export const notOnBranch = { "X-Repo-Commit-On-Branch": "false" } as const;

/** Sets that header where it belongs. */
export async function sayWhetherOnBranch(c: Context, ...asked: Parameters<typeof isOnBranch>): Promise<void> {
  if (await isOnBranch(...asked)) return;
  for (const [name, value] of Object.entries(notOnBranch)) c.header(name, value);
}

export type RepoRoute = {
  method: "get" | "post";
  /** The path after the repository's name: `/{path}` at its end is optional, `{rev}*` accepts slashes unencoded. */
  path: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  answer: z.ZodType | "text";
  handle(c: Context, repo: RepoName, segments: string[]): Promise<Response>;
};

/** Adds a route of a repository, for each type. Existing clients do not always encode values with slashes. */
export function addRepoRoute(routes: OpenAPIHono, { method, path, summary, query, body, answer, handle }: RepoRoute): void {
  const pattern = path
    .replace("{path}", "*")
    .replace("}*", "}{.+}")
    .replaceAll(/\{(\w+)\}/g, ":$1");
  const described = path.replace("*", "");
  for (const { type, base } of repoAddresses) {
    routes.on(method.toUpperCase(), `${base}/:owner/:name${pattern}`, (c) => {
      const [, , , owner = "", name = "", ...segments] = segmentsOf(c);
      return handle(c, { type, owner, name }, segments);
    });
    const named = path.match(/\{\w+\}/g) ?? [];
    const params = Object.fromEntries(["owner", "name", ...named.map((one) => one.slice(1, -1))].map((one) => [one, z.string()]));
    routes.openAPIRegistry.registerPath({
      method,
      path: `${base}/{owner}/{name}${described}`,
      summary,
      security: withOrWithoutToken,
      request: {
        params: z.object(params),
        ...(query && { query }),
        ...(body && { body: { content: { "application/json": { schema: body } } } }),
      },
      responses: {
        200: {
          description: summary,
          content: answer === "text" ? { "text/plain": { schema: z.string() } } : { "application/json": { schema: answer } },
        },
      },
    });
  }
}

/**
 * The segments of a request's path, decoded: a slash inside one (`feature%2Fx`) stays inside it.
 * @throws ServiceError `invalid_request` for what is not UTF-8
 */
export function segmentsOf(c: Context): string[] {
  const { pathname } = new URL(c.req.url);
  try {
    return pathname.split("/").map(decodeURIComponent);
  } catch (cause) {
    throw new ServiceError("invalid_request", "The address is not valid UTF-8.", { cause });
  }
}

/** The URL of a list's next page, for the header `Link`: the same request with some parameters changed. */
export function nextLink(c: Context, parameters: Record<string, string>): string {
  const url = new URL(c.req.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return `<${url.href}>; rel="next"`;
}

/** Python writes `True`. */
export const isTrue = (value: unknown): boolean => /^(true|1)$/i.test(String(value));
