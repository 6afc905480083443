import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { readSnapshot, type Snapshot } from "#core/hub/git/read/read-snapshot.ts";
import { splitRevision } from "#core/hub/git/read/split-revision.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { readSpaceRuntime, type SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes } from "../open-api.ts";
import { repoJson, repoSchema } from "../repos/repo-json.ts";
import { runtimeJson, runtimeSchema } from "../spaces/space-json.ts";
import { addRepoRoute, isTrue, type RepoRoute, sayWhetherOnBranch } from "./repo-route.ts";

const siblingSchema = z.object({
  rfilename: z.string(),
  size: z.number().optional(),
  blobId: z.string().optional(),
  lfs: z.object({ sha256: z.string(), size: z.number(), pointerSize: z.number() }).optional(),
});

export const repoInfoSchema = repoSchema.extend({
  usedStorage: z.number(),
  siblings: z.array(siblingSchema).optional().openapi({
    description: "Left out where the names of all files are too long for one answer: read the tree then, page by page.",
  }),
  host: z.string().optional().openapi({ description: "Where the app of a Space is." }),
  runtime: runtimeSchema.optional(),
});

const query = z.object({
  blobs: z.boolean().optional().openapi({ description: "The size of each file too." }),
  expand: z
    .array(z.string())
    .max(100)
    .optional()
    .openapi({ description: "What will be read; without `siblings` no names of files are sent." }),
});

const route: Omit<RepoRoute, "path" | "handle"> = { method: "get", summary: "Read a repository", query, answer: repoInfoSchema };

export const repoInfoRoutes = openApiRoutes();

addRepoRoute(repoInfoRoutes, { ...route, path: "", handle: (c, repo) => answer(c, repo, undefined) });
addRepoRoute(repoInfoRoutes, {
  ...route,
  path: "/revision/{rev}*",
  summary: "Read a repository as it is at a revision",
  handle: (c, repo, [, ...segments]) => answer(c, repo, splitRevision(segments).revision),
});

async function answer(c: Context, name: Parameters<typeof findRepo>[1], revision: string | undefined): Promise<Response> {
  const repo = await findRepo(await actorOf(c), name);
  const expanded = [...(c.req.queries("expand") ?? []), ...(c.req.queries("expand[]") ?? [])];
  const withFiles = expanded.length === 0 || expanded.includes("siblings");
  const files = withFiles ? (isTrue(c.req.query("blobs")) ? "sizes" : "names") : "none";
  // A platform's repository has no files here.
  const snapshot: Snapshot = repo.platformId
    ? { ref: null, sha: repo.headSha, committedAt: null, files: withFiles ? [] : null }
    : await readSnapshot(repo, revision ?? "HEAD", { files });
  await sayWhetherOnBranch(c, repo, snapshot);
  const runtime = repo.type === "space" ? await readSpaceRuntime(repo.id) : undefined;
  return c.json(repoInfo(repo, snapshot, { isAtHead: revision === undefined, runtime }));
}

function repoInfo(
  repo: Repo,
  { sha, committedAt, files }: Snapshot,
  { isAtHead, runtime }: { isAtHead: boolean; runtime: SpaceRuntime | undefined },
): z.infer<typeof repoInfoSchema> {
  const lastModified = isAtHead ? repo.updatedAt : (committedAt ?? repo.updatedAt);
  return {
    ...repoJson({ ...repo, headSha: sha, updatedAt: lastModified }),
    usedStorage: repo.sizeBytes,
    ...(repo.type === "space" && {
      ...(repo.platformId === null && { host: appUrl(repo).replace(/\/$/, "") }),
      runtime: runtimeJson(repo, runtime),
    }),
    ...(files && { siblings: files.map(sibling) }),
  };
}

const sibling = ({ path, size, oid, lfs }: NonNullable<Snapshot["files"]>[number]) => ({
  rfilename: path,
  ...(oid && { size, blobId: oid }),
  ...(lfs && { lfs: { sha256: lfs.oid, size: lfs.size, pointerSize: lfs.pointerSize } }),
});
