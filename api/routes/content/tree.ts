import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import type { Entry } from "#core/hub/git/read/entry.ts";
import { findPaths, PATHS_MAX } from "#core/hub/git/read/find-paths.ts";
import { EXPANDED_TREE_PAGE_MAX, listTree, TREE_PAGE_MAX } from "#core/hub/git/read/list-tree.ts";
import { splitRevision } from "#core/hub/git/read/split-revision.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { actorOf } from "../../actor.ts";
import { isForm } from "../../refuse-bad-input.ts";
import { listOf, openApiRoutes } from "../open-api.ts";
import { addRepoRoute, isTrue, nextLink, type RepoRoute, sayWhetherOnBranch } from "./repo-route.ts";

export const entrySchema = z.object({
  /** `unknown` is a submodule. */
  type: z.enum(["file", "directory", "unknown"]),
  oid: z.string(),
  size: z.number(),
  path: z.string(),
  lfs: z.object({ oid: z.string(), size: z.number(), pointerSize: z.number() }).optional(),
  lastCommit: z.object({ id: z.string(), title: z.string(), date: z.string() }).optional(),
});
const entriesSchema = z.array(entrySchema);

const query = z.object({
  recursive: z.boolean().optional(),
  expand: z.boolean().optional().openapi({ description: "The last commit of each entry too." }),
  cursor: z.string().optional(),
  limit: z
    .number()
    .optional()
    .openapi({
      description: `At most ${TREE_PAGE_MAX}, with \`expand\` ${EXPANDED_TREE_PAGE_MAX}; the header \`Link\` leads on.`,
    }),
});

export const treeRoutes = openApiRoutes();

const tree: Omit<RepoRoute, "path"> = {
  method: "get",
  summary: "List the files of a folder",
  query,
  answer: entriesSchema,
  async handle(c, name, [, ...segments]) {
    const { revision, path } = splitRevision(segments);
    const repo = await findRepo(await actorOf(c), name);
    const { recursive, expand, cursor, limit } = c.req.query();
    const {
      entries,
      nextCursor,
      revision: found,
    } = await listTree(repo, {
      revision,
      path,
      isRecursive: isTrue(recursive),
      isExpanded: isTrue(expand),
      cursor,
      limit: Number(limit ?? 0),
    });
    await sayWhetherOnBranch(c, repo, found);
    if (nextCursor) c.header("Link", nextLink(c, { cursor: nextCursor }));
    return c.json(entries.map(entryJson));
  },
};
addRepoRoute(treeRoutes, { ...tree, path: "/tree/{rev}/{path}" });

const body = z.object({
  paths: z.union([z.string(), listOf(z.string(), { max: PATHS_MAX, of: "paths", code: "invalid_request" })]),
  expand: z.union([z.boolean(), z.string()]).nullish(),
});

addRepoRoute(treeRoutes, {
  method: "post",
  path: "/paths-info/{rev}*",
  summary: "Read what is at some paths; form or JSON",
  body,
  answer: entriesSchema,
  async handle(c, name, [, ...segments]) {
    const { revision } = splitRevision(segments);
    const repo = await findRepo(await actorOf(c), name);
    const { paths, isExpanded } = await readPaths(c);
    const entries = await findPaths(repo, { revision, paths, isExpanded });
    return c.json(entries.map(entryJson));
  },
});

/** The Python client sends a form, the JavaScript client JSON. */
async function readPaths(c: Context): Promise<{ paths: string[]; isExpanded: boolean }> {
  const isJson = !isForm(c) && /^application\/(.+\+)?json\b/i.test(c.req.header("Content-Type") ?? "");
  const read = isJson ? await c.req.json().catch(() => undefined) : formFields(await c.req.text());
  const { success, data } = body.safeParse(read);
  if (!success) throw new ServiceError("invalid_request", "Send the paths as `paths`.", { field: "paths" });
  const paths = typeof data.paths === "string" ? [data.paths] : data.paths;
  if (paths.length > PATHS_MAX) {
    throw new ServiceError("invalid_request", `Send at most ${PATHS_MAX} paths at once.`, { field: "paths" });
  }
  return { paths: paths.map((path) => path.replace(/^\/+|(?<!\/)\/+$/g, "")), isExpanded: isTrue(data.expand) };
}

/** The cost of parsing a form grows faster than its number of fields (S138). */
const FIELDS_MAX = PATHS_MAX + 8;

function formFields(text: string): { paths: string[]; expand: string | null } {
  if (text.split("&", FIELDS_MAX + 1).length > FIELDS_MAX) {
    throw new ServiceError("invalid_request", `Send at most ${PATHS_MAX} paths at once.`, { field: "paths" });
  }
  const form = new URLSearchParams(text);
  return { paths: [...form.getAll("paths"), ...form.getAll("paths[]")], expand: form.get("expand") };
}

export function entryJson({ type, oid, size, path, lfs, lastCommit }: Entry): z.infer<typeof entrySchema> {
  return {
    type: type === "directory" ? "directory" : type === "submodule" ? "unknown" : "file",
    oid,
    size,
    path,
    ...(lfs && { lfs }),
    ...(lastCommit && { lastCommit: { id: lastCommit.sha, title: lastCommit.title, date: lastCommit.author.at.toISOString() } }),
  };
}
