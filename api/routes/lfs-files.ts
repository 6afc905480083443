import { z } from "@hono/zod-openapi";
import { deleteLfsFiles, LFS_FILES_PAGE, listLfsFiles } from "#core/hub/lfs/objects/delete-lfs-objects.ts";
import { defineRoute, failure, json } from "../define-route.ts";
import { linkNextPage } from "../next-page.ts";
import { listOf } from "../refuse-bad-input.ts";

const storedFileSchema = z.object({
  fileOid: z.string().openapi({ description: "The SHA-256 of the content. It identifies the file to delete." }),
  oid: z.string().openapi({ description: "The same value as `fileOid`." }),
  filename: z
    .string()
    .openapi({ description: "A path of the file in the history, or its SHA-256 if the history does not contain it." }),
  ref: z.string().optional().openapi({ description: "The default branch, if it contains the file now." }),
  pushedAt: z.iso.datetime(),
  size: z.number(),
});

export const lfsFileRoutes = [
  defineRoute("GET /api/{TYPES}/{owner}/{name}/lfs-files", {
    operationId: "listRepoLargeFiles",
    action: "repo.write",
    actor: "token",
    summary: "List the large files that a {type} stores",
    description: "Requires permission to write, because the list includes files that were removed from the history.",
    query: z.object({
      cursor: z
        .string()
        .optional()
        .openapi({ description: "The position of the page, from the next page's URL in the header `Link`." }),
    }),
    responses: { 200: json("The files", z.array(storedFileSchema)) },
    async handle({ c, actor, repo, query: { cursor } }) {
      const found = await listLfsFiles(actor, repo, cursor);
      const last = found.files.length === LFS_FILES_PAGE ? found.files.at(-1) : undefined;
      if (last) linkNextPage(c, { cursor: last.oid });
      return found.files.map(({ oid, size, createdAt, path, isInDefaultBranch }) => ({
        ...{ fileOid: oid, oid, filename: path ?? oid, size, pushedAt: createdAt.toISOString() },
        ...(isInDefaultBranch && { ref: `refs/heads/${found.repo.defaultBranch}` }),
      }));
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/lfs-files/batch", {
    operationId: "deleteRepoLargeFiles",
    action: "repo.write",
    actor: "token",
    summary: "Permanently delete large files of a {type}",
    description:
      "Deletes all of them, or none if the history still refers to one. The service does not rewrite the history: `rewriteHistory` has no effect.",
    maxBodyBytes: 1024 * 1024,
    body: z.object({
      deletions: z.object({
        sha: listOf(z.string(), { max: LFS_FILES_PAGE, of: "files" }),
        rewriteHistory: z.boolean().nullish(),
      }),
    }),
    responses: {
      200: json("Deleted", z.object({})),
      409: failure("A branch, a tag or a pull request still refers to one of the files, or the repository is being changed"),
    },
    async handle({ actor, actorNow, repo, body: { deletions }, origin }) {
      await deleteLfsFiles(actor, repo, deletions.sha, origin, actorNow);
      return {};
    },
  }),
];
