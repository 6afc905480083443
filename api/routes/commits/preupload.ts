import { createRoute, z } from "@hono/zod-openapi";
import { PATHS_MAX } from "#core/hub/git/read/find-paths.ts";
import { planUpload } from "#core/hub/git/write/plan-upload.ts";
import { requireToken } from "../../actor.ts";
import { listOf, openApiRoutes, storageFull, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "../repos/repo-address.ts";

const body = z.object({
  files: listOf(
    z.object({
      path: z.string(),
      size: z.number().int().nonnegative(),
      sample: z.string().nullish().openapi({ description: "The first bytes, as base64." }),
    }),
    { max: PATHS_MAX, of: "files", code: "invalid_request" },
  ),
  gitAttributes: z.string().nullish().openapi({ description: "The .gitattributes that is about to be committed." }),
  gitIgnore: z.string().nullish().openapi({ description: "The .gitignore that is about to be committed." }),
});

const answer = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      uploadMode: z.enum(["regular", "lfs"]),
      shouldIgnore: z.boolean(),
      oid: z.string().optional().openapi({ description: "What is there: a blob, or the SHA-256 of a file in Git LFS." }),
    }),
  ),
});

export const preuploadRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const route = createRoute({
    method: "post",
    path: `${base}/{owner}/{name}/preupload/{rev}`,
    summary: `How files are to be sent before they are committed (${type})`,
    security: withToken,
    request: {
      params: repoParams.extend({ rev: z.string() }),
      query: z.object({ create_pr: z.string().optional() }),
      body: { required: true, content: { "application/json": { schema: body } } },
    },
    responses: {
      200: { description: "Each of the files", content: { "application/json": { schema: answer } } },
      ...storageFull,
    },
  });
  preuploadRoutes.openapi(route, async (c) => {
    const { actor } = await requireToken(c);
    const { owner, name, rev } = c.req.valid("param");
    const { files, gitAttributes, gitIgnore } = c.req.valid("json");
    const plans = await planUpload(
      actor,
      { type, owner, name },
      {
        revision: rev,
        isPullRequest: isAsked(c.req.valid("query").create_pr),
        files: files.map(({ path, size, sample }) => ({
          path,
          sizeBytes: size,
          sample: sample ? Buffer.from(sample, "base64") : undefined,
        })),
        gitAttributes: gitAttributes ?? undefined,
        gitIgnore: gitIgnore ?? undefined,
      },
    );
    const described = plans.map(({ path, mode, isIgnored, oid }) => ({
      path,
      uploadMode: mode,
      shouldIgnore: isIgnored,
      ...(oid && { oid }),
    }));
    return c.json({ files: described }, 200);
  });
}

/** `?create_pr=1` */
export function isAsked(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "False"].includes(value);
}
