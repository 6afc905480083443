import { z } from "@hono/zod-openapi";
import { treeEntrySchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { invalidRequest } from "#core/errors.ts";
import { EXPANDED_TREE_PAGE_MAX, findPaths, listTree, PATHS_MAX, TREE_PAGE_MAX } from "#core/hub/git/read/list-tree.ts";
import { splitRevision } from "#core/hub/git/read/revision.ts";
import type { Entry } from "#core/hub/git/read/tree-entries.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { findXetHashes } from "#core/hub/xet/read-file.ts";
import { actorOf } from "../../actor.ts";
import { linkNextPage } from "../../next-page.ts";
import { isForm, listOf } from "../../refuse-bad-input.ts";
import { addOnBranchHeader, defineContentRoute, isTrue } from "./content-route.ts";

const pathsSchema = z.object({
  paths: z.union([z.string(), listOf(z.string(), { max: PATHS_MAX, of: "paths", code: "invalid_request" })]),
  expand: z.union([z.boolean(), z.string()]).nullish(),
});

export const treeRoutes = [
  defineContentRoute("GET /tree/{rev}/{path}", {
    operationId: "listRepoTree",
    action: "repo.read",
    summary: "List the files of a folder",
    query: z.object({
      recursive: z.boolean().optional(),
      expand: z.boolean().optional().openapi({ description: "Whether to include the last commit of each entry." }),
      cursor: z.string().optional(),
      limit: z
        .number()
        .optional()
        .openapi({
          description: `The number of entries on a page: at most ${TREE_PAGE_MAX.toLocaleString("en")}, or ${EXPANDED_TREE_PAGE_MAX} with \`expand\`. The header \`Link\` has the next page's URL.`,
        }),
    }),
    answer: z.array(treeEntrySchema),
    async handle({ c, repo: name, segments: [, ...segments] }) {
      const { revision, path } = splitRevision(segments);
      const repo = await findRepo(await actorOf(c), name);
      const { recursive, expand, cursor, limit } = c.req.query();
      const found = await listTree(repo, {
        revision,
        path,
        isRecursive: isTrue(recursive),
        isExpanded: isTrue(expand),
        cursor,
        limit: Number(limit ?? 0),
      });
      await addOnBranchHeader(c, repo, found.revision);
      if (found.nextCursor) linkNextPage(c, { cursor: found.nextCursor });
      return c.json(await entriesJson(repo, found.entries));
    },
  }),

  defineContentRoute("POST /paths-info/{rev}*", {
    operationId: "getRepoPathsInfo",
    action: "repo.read",
    summary: "Get the entries at given paths (the body is a form or JSON)",
    body: pathsSchema,
    maxBodyBytes: 1024 * 1024,
    answer: z.array(treeEntrySchema),
    async handle({ c, repo: name, segments: [, ...segments] }) {
      const { revision } = splitRevision(segments);
      const repo = await findRepo(await actorOf(c), name);
      const { paths, isExpanded } = await readPaths(c);
      const entries = await findPaths(repo, { revision, paths, isExpanded });
      return c.json(await entriesJson(repo, entries));
    },
  }),
];

/** The Python client sends a form, the JavaScript client JSON. */
async function readPaths(c: Context): Promise<{ paths: string[]; isExpanded: boolean }> {
  const isJson = !isForm(c) && /^application\/(.+\+)?json\b/i.test(c.req.header("Content-Type") ?? "");
  const read = isJson ? await c.req.json().catch(() => undefined) : formFields(await c.req.text());
  const { success, data } = pathsSchema.safeParse(read);
  if (!success) throw invalidRequest("Send the paths as `paths`.", "paths");
  const paths = typeof data.paths === "string" ? [data.paths] : data.paths;
  if (paths.length > PATHS_MAX) throw invalidRequest(`Send at most ${PATHS_MAX.toLocaleString("en")} paths at once.`, "paths");
  return { paths: paths.map((path) => path.replace(/^\/+|(?<!\/)\/+$/g, "")), isExpanded: isTrue(data.expand) };
}

/** The cost of parsing a form grows faster than its number of fields (S138). */
const FIELDS_MAX = PATHS_MAX + 8;

function formFields(text: string): { paths: string[]; expand: string | null } {
  if (text.split("&", FIELDS_MAX + 1).length > FIELDS_MAX) {
    throw invalidRequest(`Send at most ${PATHS_MAX.toLocaleString("en")} paths at once.`, "paths");
  }
  const form = new URLSearchParams(text);
  return { paths: [...form.getAll("paths"), ...form.getAll("paths[]")], expand: form.get("expand") };
}

async function entriesJson({ id }: Repo, entries: readonly Entry[]): Promise<z.infer<typeof treeEntrySchema>[]> {
  const oids = entries.flatMap(({ lfs }) => (lfs ? [lfs.oid] : []));
  const xetHashes = await findXetHashes(id, oids);
  return entries.map((entry) => {
    const xetHash = entry.lfs && xetHashes.get(entry.lfs.oid);
    return { ...entryJson(entry), ...(xetHash && { xetHash }) };
  });
}

function entryJson({ type, oid, size, path, lfs, lastCommit }: Entry): z.infer<typeof treeEntrySchema> {
  return {
    type: type === "directory" ? "directory" : type === "submodule" ? "unknown" : "file",
    oid,
    size,
    path,
    ...(lfs && { lfs }),
    ...(lastCommit && { lastCommit: { id: lastCommit.sha, title: lastCommit.title, date: lastCommit.author.at.toISOString() } }),
  };
}
